"""Prints the data of a wheel of genai-prices as JSON, in the shape of the project's `data.json`.

The wheel has its data only as Python code that calls constructors. It is evaluated with constructors that just keep
their arguments, so that the package and what it depends on need not be installed.
"""

import datetime
import json
import re
import sys
import zipfile
from decimal import Decimal


class Constructors(dict):
    def __missing__(self, name):
        if not name[0].isupper():
            raise KeyError(name)
        return lambda **arguments: {key.rstrip("_"): value for key, value in arguments.items() if value is not None}


def plain(value):
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat().replace("+00:00", "Z")
    raise TypeError(value)


with zipfile.ZipFile(sys.argv[1]) as files:
    code = files.read("genai_prices/data.py").decode()
names = Constructors(Decimal=Decimal, datetime=datetime)
exec(re.sub(r"^(from|import) .*$|: list\[Provider\]", "", code, flags=re.M), names)
json.dump(names["providers"], sys.stdout, default=plain)
