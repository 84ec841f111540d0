"""Opens addresses in LibreOffice, which gets the key as it does from its dialog: by its store of passwords, for Basic authentication.

Usage: open_in_libreoffice.py PROFILE_DIRECTORY HOST KEY ADDRESS...
Prints the cells of each opened sheet as a JSON array of rows, a line for each address, and null for an address that LibreOffice does not open.
"""

import json
import os
import subprocess
import sys
import time

import uno
from com.sun.star.beans import PropertyValue
from com.sun.star.connection import NoConnectException

START_SECONDS = 120
# Comma, double quote, UTF-8, from the first line, all columns by recognition, English (USA).
CSV_OF_ALMANAC = "44,34,76,1,,1033"


def main(profile, host, key, *addresses):
    pipe = f"almanac-{os.getpid()}"
    office = subprocess.Popen(
        [
            "soffice",
            f"-env:UserInstallation=file://{profile}",
            "--headless",
            "--norestore",
            f"--accept=pipe,name={pipe};urp;",
        ]
    )
    try:
        desktop = None
        context = connect(office, pipe)
        desktop = context.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", context)
        asks = context.ServiceManager.createInstanceWithContext("com.sun.star.task.InteractionHandler", context)
        passwords = context.ServiceManager.createInstanceWithContext("com.sun.star.task.PasswordContainer", context)
        passwords.add(host, "almanac", (key,), asks)
        for address in addresses:
            print(json.dumps(rows_of(desktop, address, asks)))
    finally:
        # The program that was started is a script: ending it would leave LibreOffice itself running.
        if desktop is None:
            office.terminate()
        else:
            desktop.terminate()
        office.wait(timeout=60)


def connect(office, pipe):
    local = uno.getComponentContext()
    resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            return resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
        except NoConnectException:
            if office.poll() is not None or time.monotonic() > until:
                raise
            time.sleep(0.2)


def rows_of(desktop, address, asks):
    options = {
        "Hidden": True,
        "FilterName": "Text - txt - csv (StarCalc)",
        "FilterOptions": CSV_OF_ALMANAC,
        "InteractionHandler": asks,
    }
    document = desktop.loadComponentFromURL(address, "_blank", 0, tuple(map(named, *zip(*options.items()))))
    if document is None:
        return None
    sheet = document.Sheets.getByIndex(0)
    cursor = sheet.createCursor()
    cursor.gotoEndOfUsedArea(False)
    last = cursor.RangeAddress
    rows = [
        [sheet.getCellByPosition(column, row).String for column in range(last.EndColumn + 1)]
        for row in range(last.EndRow + 1)
    ]
    document.close(True)
    return rows


def named(name, value):
    option = PropertyValue()
    option.Name = name
    option.Value = value
    return option


main(*sys.argv[1:])
