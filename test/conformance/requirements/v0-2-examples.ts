/** The examples of the 0.2 text, and what it says of errors. */
import { type RequirementGroup, requirement } from '../requirement.ts'

export const v0_2Examples: RequirementGroup = {
  title: 'The examples of 0.2',
  about:
    'Section 9 of the text of 0.2 shows seven conversations. They run in their order, with the requests of the document.',
  requirements: [
    requirement('S1-1', 'The public card announces an extended one, which a known caller gets by an HTTP GET.'),
    requirement('S1-2', 'A question is answered in a task, or by a message without one.'),
    requirement('S1-3', 'A long answer is streamed in sections, and the last status is `final`.', {
      instead: 'Its request lacks `jsonrpc` and `id`, which the text demands elsewhere: without them it is -32600.',
    }),
    requirement('S1-4', 'A task that asks is continued under its id.'),
    requirement('S1-5', 'A send with a webhook is acknowledged at once; the webhook gets the task when it has ended.'),
    requirement('S1-6', 'A file goes in as bytes and comes out as an address.'),
    requirement('S1-7', 'The metadata of a part may hint at the form of the answer.'),
    requirement('S1-8', 'Errors use the words of 0.2, and the id of a request is checked before its params.'),
    requirement('S1-9', 'An upstream that answers with something that makes no sense is -32006.', {
      instead: 'While there is no task. Once there is one, the task fails.',
    }),
  ],
}
