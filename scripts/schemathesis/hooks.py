"""What Schemathesis cannot know from the OpenAPI document. See run.ts."""

import schemathesis
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.openapi.checks import RejectedPositiveData

# Issues that the schemas of the document must have ruled out. All others are about what no schema can express: names
# that do not exist, fields that depend on each other, days that no calendar has.
RULED_OUT_BY_SCHEMA = {
    "too_short",
    "too_long",
    "too_small",
    "too_large",
    "too_few",
    "too_many",
    "wrong_type",
    "not_an_integer",
    "unknown_field",
}

# Other fields are required by settings, by what exists, or by the query.
REQUIRED_BY_SCHEMA = {("required", pointer) for pointer in ("/tokens", "/period", "/confirm", "/reason", "/scopes")}


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Keeps valid requests that were rejected only if a schema should have said so."""
    # The address is too long for the server, which refuses it before Tally reads it, as the document says.
    if response.status_code == 431:
        return False
    # A batch is accepted, and rejects each entry by itself.
    if isinstance(failure, AcceptedNegativeData) and case.path.endswith("/token-entries/batch"):
        return not all(result["result"] == "rejected" for result in response.json()["results"])
    if not isinstance(failure, RejectedPositiveData):
        return True
    # Random bytes are a valid text, but no message of Protocol Buffers.
    if case.media_type == "application/x-protobuf" and response.status_code == 400:
        return False
    # A version in If-Match that nobody has.
    if response.status_code == 412:
        return False
    if response.status_code != 422:
        return True
    return any(must_be_ruled_out(issue) for issue in response.json().get("errors", []))


def must_be_ruled_out(issue):
    # The lines of a CSV file, the present, and how much there is already are in no schema.
    if issue["pointer"] == "" or issue["pointer"].startswith("/lines/") or "in the future" in issue["message"]:
        return False
    return issue["code"] in RULED_OUT_BY_SCHEMA or (issue["code"], issue["pointer"]) in REQUIRED_BY_SCHEMA


@schemathesis.serializer("application/x-protobuf")
def protobuf(context, value):
    return value if isinstance(value, bytes) else str(value).encode()


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    return value if isinstance(value, bytes) else str(value).encode()
