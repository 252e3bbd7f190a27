import AsyncHTTPClient
import Logging
