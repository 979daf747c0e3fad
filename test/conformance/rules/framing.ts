/** How requests, answers and streams travel over HTTP. */
import { allVersions, decision, must, legacyVersions, practice, should, v1 } from '../rule.ts'
import type { Section } from '../rule.ts'

export const framing: Section = {
  title: 'Framing',
  about: 'JSON-RPC, REST and server-sent events: the envelopes around every payload.',
  rules: [
    must(
      'F-1',
      allVersions,
      'JSON-RPC is a POST with a JSON body. The response has either `result` or `error` and repeats the id of the request, or `null` if the id could not be read.',
    ),
    decision(
      'F-2',
      allVersions,
      'The id is a string or an integer. A request without one is refused with -32600 before its params are read, and so is a batch: A2A has no notifications and no batches.',
    ),
    decision(
      'F-3',
      allVersions,
      'JSON-RPC errors travel with HTTP 200. Only transport conditions have their own status: 401, 403, 413, 415, 429 and 5xx, still with a JSON-RPC body.',
    ),
    must(
      'F-4',
      allVersions,
      'A stream is `text/event-stream`; each event is one `data:` line with one complete JSON document. Headers keep caches and proxies from buffering it (`Cache-Control: no-cache`, `X-Accel-Buffering: no`).',
    ),
    practice(
      'F-5',
      allVersions,
      'A reader of streams accepts every line ending, joins several `data:` lines, skips comments and unknown fields, and flushes what is pending when the stream ends.',
    ),
    must(
      'F-6',
      allVersions,
      'Over JSON-RPC every event of a stream is a complete response that carries the id of the request.',
    ),
    decision(
      'F-7',
      allVersions,
      'A stream that cannot start gives a plain error; only `tasks/resubscribe` reports an unknown task in an event. After the first event an error is the last event of the stream.',
    ),
    should(
      'F-8',
      v1,
      'REST 1.0 is labelled `application/a2a+json`, or `application/json` for a client that accepts that by name; both are accepted. GET parameters are in the path and the query, by their camelCase names.',
    ),
    practice(
      'F-9',
      allVersions,
      'A verb after a colon (`/tasks/{id}:cancel`) is recognised before the id, ids are percent-decoded, and an empty body or a literal `null` is accepted if no parameter is required.',
    ),
    practice(
      'A-6',
      legacyVersions,
      'A REST error of 0.x has the code, message and data of JSON-RPC, and in `type` and `error` the class names by which the SDKs for Python and Java know it.',
    ),
    practice(
      'A-21',
      v1,
      '1.0.0 and 1.0.1 disagree on the HTTP status of some errors. We write those of 1.0.1 and read an error by its reason first, then by its code, and by its status last.',
    ),
    must(
      'B-165',
      v1,
      'The tenant of an interface is named in every request: in the payload, or in front of every REST path.',
    ),
    decision(
      'B-166',
      v1,
      'Tenants are isolated. A tenant that does not exist, or that the caller may not use, is "not found"; a path that names another tenant than its payload is refused.',
    ),
    must(
      'F-11',
      v1,
      'Protocol parameters such as the version are HTTP headers, whose names are read without regard to case, or metadata of gRPC, whose names are in lower case; several values are one list.',
    ),
    must(
      'F-10',
      allVersions,
      'gRPC carries messages of proto3 over HTTP/2, with TLS if keys are configured. Streams are server streaming, and the end of the call is the end of the stream. The services of 0.3 and 1.0 share one port.',
    ),
    decision(
      'B-12',
      allVersions,
      'Over gRPC the package of the service selects 0.3 or 1.0; metadata may name one of its versions.',
    ),
  ],
}
