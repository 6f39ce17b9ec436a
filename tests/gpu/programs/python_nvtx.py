"""The Python package nvtx: annotate as decorator and context, domains, colours, push/pop, start/end."""
import nvtx


@nvtx.annotate("decorated", color="blue")
def decorated():
    return 1


def main():
    for _ in range(3):
        decorated()
    attributes = {"color": "red", "domain": "package", "category": "phase"}
    try:
        context = nvtx.annotate("context", payload=42, **attributes)
    except TypeError:  # versions before 0.2.7 have no payload
        context = nvtx.annotate("context", **attributes)
    with context:
        pass
    started = nvtx.start_range("started", domain="package")
    nvtx.push_range("pushed", domain="package")
    nvtx.pop_range(domain="package")
    nvtx.end_range(started)
    nvtx.mark("marked")


main()
