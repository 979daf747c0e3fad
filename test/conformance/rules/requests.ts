/** What is checked before anything happens. */
import { allVersions, decision, must, should, v1 } from '../rule.ts'
import type { Section } from '../rule.ts'

export const requests: Section = {
  title: 'Requests',
  about: 'What is refused before an agent runs. Every error names the field.',
  rules: [
    must('B-35', allVersions, 'Invalid JSON gives -32700 and a `null` id.'),
    must('B-36', allVersions, 'An envelope with a wrong `jsonrpc`, no method or an invalid id gives -32600.'),
    must('B-37', allVersions, 'An unknown method gives -32601 and the id of the request.'),
    must(
      'B-38',
      allVersions,
      'Parameters are checked before any work: missing fields and wrong types give -32602 or 400, with all fields and their violations.',
    ),
    decision(
      'B-39',
      allVersions,
      'A message needs a `messageId`, the role of a user and at least one part; each part has exactly one content, inline bytes are valid base64, and addresses are absolute http or https.',
    ),
    decision('B-40', v1, '`params` may be missing only if none are required. An array is refused with -32602.'),
    should(
      'B-41',
      allVersions,
      'Bodies, parts and the depth of metadata are limited (413), and a content type that is not JSON is refused (415).',
    ),
    must(
      'B-173',
      allVersions,
      'Addresses in parts are not trusted: they are absolute http or https, and the server fetches none of them.',
    ),
    decision('B-42', allVersions, 'A JSON-RPC id may be used again in a later request.'),
  ],
}
