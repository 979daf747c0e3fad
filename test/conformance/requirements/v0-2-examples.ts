/** The examples of the 0.2 specification, and its rules on errors. */
import { type RequirementGroup, requirement } from '../requirement.ts'

export const v0_2Examples: RequirementGroup = {
  title: 'The examples of 0.2',
  about:
    'Section 9 of the 0.2 specification has seven conversations. The tests run them in order, with the requests of the document.',
  requirements: [
    requirement('S1-1', 'The public card declares an extended one, which an authenticated caller gets by HTTP GET.'),
    requirement('S1-2', 'A question is answered with a task, or with a direct message.'),
    requirement('S1-3', 'A long answer is streamed in sections, and the last status is `final`.', {
      instead:
        'Its request lacks `jsonrpc` and `id`, which the specification requires elsewhere: without them it is -32600.',
    }),
    requirement('S1-4', 'A task that requires input is continued under its id.'),
    requirement('S1-5', 'A send with a webhook is acknowledged at once; the webhook gets the task when it has ended.'),
    requirement('S1-6', 'A file is sent as bytes and returned as a URL.'),
    requirement('S1-7', 'The metadata of a part may describe the form of the answer.'),
    requirement('S1-8', 'Errors use the format of 0.2, and the id of a request is checked before its params.'),
    requirement('S1-9', 'An invalid response of an upstream is -32006.', {
      instead: 'Before a task exists. After that, the task fails.',
    }),
  ],
}
