/** Where we knowingly do other than the text, or choose where it leaves a choice: what, and one sentence of why. */

export interface Deviation {
  readonly ids: readonly string[]
  readonly what: string
  readonly why: string
}

export const deviations: readonly Deviation[] = [
  {
    ids: ['F-2'],
    what: 'JSON-RPC notifications and batches are refused; a missing id before anything is said of the params.',
    why: 'Every operation of A2A has an answer, and no version gives batches a meaning for streams.',
  },
  {
    ids: ['F-3'],
    what: 'JSON-RPC errors come with HTTP 200, except for conditions of the transport.',
    why: 'The conformance kit and most clients expect 200, while proxies and load balancers need to see 401, 413, 429 and 503.',
  },
  {
    ids: ['F-7'],
    what: 'A stream that cannot start is a plain error in every version, save that `tasks/resubscribe` tells of an unknown task in the only event of a stream, and that `/api/a2a` does so for all errors where the profile for the older draft is on.',
    why: 'A plain error can be told from a stream by its type. The published 0.x clients and the conformance kits for 0.2 and 0.3 read the answer to `tasks/resubscribe` as a stream or not at all.',
  },
  {
    ids: ['B-10', 'B-3'],
    what: 'Without a version header the JSON-RPC method decides; the text reads a missing header as 0.3. The option `strict` follows the text.',
    why: 'The method names of 0.x and 1.0 have nothing in common, so nothing is ambiguous, and 1.0 clients that forget the header are common.',
  },
  {
    ids: ['J-1', 'J-3', 'J-4', 'J-10'],
    what: 'Readers accept snake_case, offsets and times without a zone, URL-safe base64, unknown fields, and the spellings of older drafts.',
    why: 'Real peers send them, and their meaning is clear. Writers produce the official form only.',
  },
  {
    ids: ['B-30', 'B-31'],
    what: 'A client also takes signatures over a card without any of its empty values, and over the document as it is; it says which form it was. Cards of ours are signed in the official form only.',
    why: 'Published SDKs sign the first and small tools the second. Of a card that is verified only what the form covers is used.',
  },
  {
    ids: ['B-28', 'B-15'],
    what: 'A caller that names no version gets one card that holds the fields of both generations.',
    why: 'Such a caller may be of either, and the fields do not collide.',
  },
  {
    ids: ['B-41', 'F-3'],
    what: 'A request that is not labelled as JSON is HTTP 415 in every version, with -32005.',
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
    what: 'In 0.x a send without `blocking` waits, unless it brings a webhook, or a configuration in ProtoJSON.',
    why: 'The sources of 0.3 contradict each other; waiting is what its widespread servers do. A client with a webhook is told of the end anyway, as the example of 0.2 shows. The SDKs for Python, Java and JavaScript leave `blocking: false` out of ProtoJSON, and write `true` where they want to wait.',
  },
  {
    ids: ['B-67'],
    what: 'A blocking send ends after a limit with the task as it is, although that is not a state B-63 allows.',
    why: 'A connection that a proxy cuts tells the client nothing; a task that is still working tells it what to ask for next.',
  },
  {
    ids: ['B-71', 'T-6'],
    what: 'A webhook configuration inside a send is refused by a server without push notifications.',
    why: 'A client that is never called waits forever; an error it can see.',
  },
  {
    ids: ['B-85'],
    what: '`pageSize` repeats the limit in force rather than the number of tasks on the page.',
    why: 'The text allows both readings; its own example and the official libraries use this one.',
  },
  {
    ids: ['B-91', 'B-97'],
    what: 'A stream closes when the task asks for input, with `final: true` in 0.x. `keepOpenOnInputRequired` changes it.',
    why: 'The normative section obliges to close only at the end, the guides close here, and clients that wait for the close are common.',
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
    why: 'No version can resume a stream without loss. The payloads stay untouched, so peers that do not know it do not notice.',
  },
  {
    ids: ['B-116'],
    what: 'In 0.x a webhook that was set without an id is found and deleted as `default` too, unless one is called so.',
    why: 'Clients of 0.x, the conformance kit among them, ask for it by that name.',
  },
  {
    ids: ['B-144'],
    what: 'In 0.x a missing required extension is -32600 with the URIs in `data`.',
    why: '-32008 does not exist there.',
  },
  {
    ids: ['B-163'],
    what: 'A direct message answer is remembered in memory only; tasks are recognised durably for the window.',
    why: 'A direct message has no task and no log to be kept in.',
  },
  {
    ids: ['B-163', 'B-156'],
    what: 'What is kept of the content of a message, to recognise it, is a hash under a key of the keyring.',
    why: 'A message may be a short secret. A plain hash of it would let a reader of the store try words against it.',
  },
  {
    ids: ['B-163'],
    what: 'The message id of an anonymous caller counts only if it is a UUID of version 4, 7 or 8.',
    why: 'Anonymous callers share one owner. An id that can be guessed would give the task of one caller to another.',
  },
  {
    ids: ['B-166'],
    what: 'A tenant that does not exist, or is not for this caller, is -32001 and 404; where an agent has no tenants at all, naming one is -32602.',
    why: 'The text names no error. Clients cannot enumerate tenants, and a client that names one in vain learns its mistake.',
  },
  {
    ids: ['S2-31', 'B-146'],
    what: 'The trace extension writes `traceId` and `spanId` beside its URI as well as under it.',
    why: 'Clients of older drafts look for them there, and only requests with the extension active get them.',
  },
  {
    ids: ['S2-16'],
    what: 'A deadline for input that passes is the state FAILED with a reason, not an error on the stream.',
    why: 'Later readers of the task must see it too.',
  },
]
