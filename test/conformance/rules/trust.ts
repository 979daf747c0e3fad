/** Extensions, authentication and what one caller may see of another. */
import { allVersions, decision, may, must, legacyVersions, practice, should, v1 } from '../rule.ts'
import type { Section } from '../rule.ts'

export const extensions: Section = {
  title: 'Extensions',
  about: 'Additions to the protocol, named by a URI and switched on request by request.',
  rules: [
    practice('B-141', allVersions, 'Extensions are declared in the card and inactive unless asked for.'),
    practice('B-142', allVersions, 'A client asks for them by header, with those they depend on.'),
    should('B-143', allVersions, 'The answer names those that are active, also on a stream. Unknown ones are ignored.'),
    must(
      'B-144',
      allVersions,
      'A required extension that was not asked for is -32008; in 0.x, which has no such code, -32600 with the missing URIs.',
    ),
    must('B-145', allVersions, 'URIs are compared exactly; another version is another extension.'),
    practice(
      'B-146',
      allVersions,
      'Their data lives in `metadata` under the URI. There are no new fields and no new states.',
    ),
    must('B-147', allVersions, 'Methods of an extension are authorized and validated like any other.', {
      open: 'no extension of ours has methods',
    }),
    should('B-148', allVersions, 'An extension that only carries data is not marked as required.'),
    must('B-149', v1, 'What a library brings along is off: nothing is declared that the server does not list.'),
  ],
}

export const trust: Section = {
  title: 'Authentication and authorization',
  about: 'Who calls, and what that caller may see.',
  rules: [
    must('B-150', allVersions, 'Every request is authenticated, by what the transport carries and never by a payload.'),
    should(
      'B-151',
      allVersions,
      'Without valid credentials the answer is 401 with a challenge, with too few rights 403, each in the shape of the binding.',
    ),
    must('B-152', allVersions, 'Clients send their credentials with every request.'),
    must('B-153', v1, 'Every operation is authorized, before anything is looked up.'),
    should(
      'B-154',
      allVersions,
      'Rights may be limited by skill and scope: what a skill requires adds to what the card does. A message names its skill in `metadata.skillId`.',
    ),
    must('B-155', v1, 'A task that needs a credential stops in AUTH_REQUIRED with a message that explains it.'),
    must(
      'B-156',
      v1,
      'The credential comes by another way; the task may go on without a message of the client, and takes messages while it waits.',
    ),
    should('B-157', v1, 'A client that is told so subscribes or polls.'),
    must('B-158', v1, 'Having reached AUTH_REQUIRED permits nothing by itself: every message is judged anew.'),
    should('B-159', v1, 'Credentials sent inside a message are bound to the agent that asked.', {
      open: 'what binds a credential is its own format; ours are protected on their way by TLS and kept in no log',
    }),
    must('B-160', allVersions, 'A task of another caller is "not found", word for word as one that does not exist.'),
    practice(
      'B-161',
      legacyVersions,
      'In 0.x the details are in the status message and the client answers with its next message.',
    ),
    should(
      'B-172',
      v1,
      'The certificate of the other end is checked against the name that was called. Which TLS is spoken (1.2 or newer) is for Node, or for the proxy that ends it.',
    ),
  ],
}

export const reliability: Section = {
  title: 'Repetition and equivalence',
  about: 'What may be repeated safely, and what is the same everywhere.',
  rules: [
    practice('B-162', allVersions, 'Reading changes nothing and may be repeated.'),
    may(
      'B-163',
      allVersions,
      'A message with the caller, the agent, the message id and the content of one that came in the last 24 hours is a repeat: while the first is running the second joins it, afterwards it gets the same task, and as a stream the same events from the start. Content is compared in its canonical form, whatever version or binding brought it. Other content under a used id is a new message, and inside one task it is refused with the reason MESSAGE_ID_REUSED. A repeat of an anonymous caller counts only if its id is a UUID that cannot be guessed. The window is a setting, stated on the card by the cursor extension.',
    ),
    decision(
      'B-164',
      allVersions,
      'A client repeats a send under the same message id, with the same content, and only within the window that the card states.',
    ),
    decision(
      'B-167',
      v1,
      'A tenant cannot be called what a path means otherwise: `message:send`, `tasks`, `v1`, `.well-known` and the like.',
    ),
    must('B-168', allVersions, 'Every binding offers the same operations with the same meaning and the same errors.'),
    decision('B-174', allVersions, 'An unknown state is read as "unknown" and crashes nothing.'),
    should('B-175', ['0.3'], 'Sending, reading and canceling are the least that 0.3 asks for.'),
  ],
}
