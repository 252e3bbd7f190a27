import Crypto
import Yams
