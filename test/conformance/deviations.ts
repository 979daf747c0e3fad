/** Deliberate deviations from the specification, and choices where it is silent, each with the reason. */

export interface Deviation {
  readonly ids: readonly string[]
  readonly what: string
  readonly why: string
}

export const deviations: readonly Deviation[] = [
  {
    ids: ['F-2'],
    what: 'JSON-RPC notifications and batches are refused; a missing id is reported before any problem of the params.',
    why: 'Every operation of A2A has a response, and no version defines batches for streams.',
  },
  {
    ids: ['F-3'],
    what: 'JSON-RPC errors have HTTP 200, except for transport conditions.',
    why: 'The conformance kit and most clients expect 200, while proxies and load balancers need to see 401, 413, 429 and 503.',
  },
  {
    ids: ['F-7'],
    what: 'A stream that cannot start is a plain error in every version, except that `tasks/resubscribe` reports an unknown task in the only event of a stream, and that `/api/a2a` does so for all errors if the profile for the older draft is on.',
    why: 'A plain error is distinguished from a stream by its media type. The published 0.x clients and the conformance kits for 0.2 and 0.3 read the response to `tasks/resubscribe` as a stream or not at all.',
  },
  {
    ids: ['B-10', 'B-3'],
    what: 'Without a version header the JSON-RPC method decides; the text reads a missing header as 0.3. The option `strict` of the server, and the setting `strict` of the hub, follow the text.',
    why: 'The method names of 0.x and 1.0 have nothing in common, so nothing is ambiguous, and 1.0 clients that forget the header are common.',
  },
  {
    ids: ['J-1', 'J-3', 'J-4', 'J-10'],
    what: 'Readers accept snake_case, offsets and times without a zone, URL-safe base64, unknown fields, and the spellings of older drafts.',
    why: 'Real peers send them, and their meaning is clear. Writers produce the official form only.',
  },
  {
    ids: ['B-30', 'B-31'],
    what: 'A client also accepts signatures over a card without its empty values, and over the document as served; it reports which form it was. Our cards are signed in the official form only.',
    why: 'Published SDKs sign the first and small tools the second. Only the signed fields of a verified card are used.',
  },
  {
    ids: ['B-28', 'B-15'],
    what: 'A caller that names no version gets one card with the fields of 0.x and 1.0.',
    why: 'Such a caller may use either, and the fields do not collide.',
  },
  {
    ids: ['B-41', 'F-3'],
    what: 'A request with a content type other than JSON is HTTP 415 in every version, with -32005.',
    why: 'The status is that of HTTP, and what the published kit for 1.0 tests. 1.0.1 lists 400 for -32005, which is about the media types of parts; those are 400 here.',
  },
  {
    ids: ['B-43'],
    what: 'A message to a finished task is -32004 in every version.',
    why: '0.x asks for "an error" without naming one; one code for one condition is easier to handle.',
  },
  {
    ids: ['B-45'],
    what: 'A message to a running task waits for its turn.',
    why: 'The text leaves it open. Losing a message or running two turns of one task at once would both surprise.',
  },
  {
    ids: ['B-56'],
    what: 'Context ids of up to 256 letters, digits and `_ . : -` are accepted; others are -32602 with the reason CONTEXT_REJECTED.',
    why: 'The text asks for an error and names none. Ids end up in logs and addresses, hence the alphabet.',
  },
  {
    ids: ['B-66'],
    what: 'In 0.x a send without `blocking` waits, unless it has a webhook, or a configuration in ProtoJSON.',
    why: 'The sources of 0.3 contradict each other; waiting is what its widespread servers do. A client with a webhook is notified of the end anyway, as the example of 0.2 shows. The SDKs for Python, Java and JavaScript omit `blocking: false` from ProtoJSON, and write `true` to wait.',
  },
  {
    ids: ['B-67'],
    what: 'A blocking send ends after a limit with the current task, although B-63 does not allow its state.',
    why: 'A connection that a proxy cuts leaves the client without a task id; a running task can be polled.',
  },
  {
    ids: ['B-71', 'T-6'],
    what: 'A webhook configuration inside a send is refused by a server without push notifications.',
    why: 'A client whose webhook is never called waits forever; an error is visible.',
  },
  {
    ids: ['B-85'],
    what: '`pageSize` repeats the limit in force rather than the number of tasks on the page.',
    why: 'The text allows both readings; its own example and the official libraries use this one.',
  },
  {
    ids: ['B-91', 'B-97'],
    what: 'A stream closes when the task asks for input, with `final: true` in 0.x. `keepOpenOnInputRequired` changes it.',
    why: 'The normative section requires closing only at the end, the guides close here, and clients that wait for the close are common.',
  },
  {
    ids: ['B-100'],
    what: 'Text that was appended chunk by chunk is one text part when the task is read; the stream has the chunks. `coalesceText: false` changes it.',
    why: 'Sixteen thousand parts of one word each are useless to readers of the result.',
  },
  {
    ids: ['B-108'],
    what: '`tasks/resubscribe` to a finished task sends the task once and closes; 1.0 refuses.',
    why: '0.3 leaves it open except in its gRPC comment, which says this.',
  },
  {
    ids: ['B-109'],
    what: 'Events have an `id:` and `Last-Event-ID` is honoured, in every version.',
    why: 'No version can resume a stream without loss. The payloads stay unchanged, so other peers are not affected.',
  },
  {
    ids: ['B-116'],
    what: 'In 0.x a webhook that was set without an id is also found and deleted as `default`, unless another one has that id.',
    why: 'Clients of 0.x, including the conformance kit, use that name.',
  },
  {
    ids: ['B-144'],
    what: 'In 0.x a missing required extension is -32600 with the URIs in `data`.',
    why: '-32008 does not exist there.',
  },
  {
    ids: ['B-163'],
    what: 'A direct reply is remembered in memory only; tasks are recognised durably for the window.',
    why: 'A direct reply has no task and no log.',
  },
  {
    ids: ['B-163', 'B-156'],
    what: 'The store keeps a hash of the content of a message, keyed by the keyring, to recognise repeats.',
    why: 'A message may be a short secret. A plain hash would let a reader of the store guess it.',
  },
  {
    ids: ['B-163'],
    what: 'The message id of an anonymous caller counts only if it is a UUID of version 4, 7 or 8.',
    why: 'Anonymous callers share one owner. An id that can be guessed would give the task of one caller to another.',
  },
  {
    ids: ['B-166'],
    what: 'A tenant that does not exist, or that the caller may not use, is -32001 and 404; if an agent has no tenants, naming one is -32602.',
    why: 'The text names no error. Clients cannot enumerate tenants, and a client that names one by mistake gets an error.',
  },
  {
    ids: ['S2-31', 'B-146'],
    what: 'The trace extension writes `traceId` and `spanId` beside its URI as well as under it.',
    why: 'Clients of older drafts look for them there, and only requests with the extension active get them.',
  },
  {
    ids: ['S2-16'],
    what: 'An expired input deadline is the state FAILED with a reason, not an error on the stream.',
    why: 'Later readers of the task must see it too.',
  },
]
