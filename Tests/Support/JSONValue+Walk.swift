import CatalogFetcher

/// Reads everything that there is to read.
package func walk(_ value: JSONValue) {
    _ = (value.text, value.integer, value.double, value.source)
    for element in value.elements { walk(element) }
    for member in value.members { walk(member.value) }
}
