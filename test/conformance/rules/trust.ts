/** Extensions, authentication and what one caller may see of another. */
import { allVersions, decision, may, must, legacyVersions, practice, should, v1 } from '../rule.ts'
import type { Section } from '../rule.ts'

export const extensions: Section = {
  title: 'Extensions',
  about: 'Additions to the protocol, named by a URI and activated per request.',
  rules: [
    practice('B-141', allVersions, 'Extensions are declared in the card and inactive unless requested.'),
    practice('B-142', allVersions, 'A client requests them by header, with those they depend on.'),
    should('B-143', allVersions, 'The response lists the active ones, also on a stream. Unknown ones are ignored.'),
    must(
      'B-144',
      allVersions,
      'A required extension that was not requested gives -32008; in 0.x, which has no such code, -32600 with the missing URIs.',
    ),
    must('B-145', allVersions, 'URIs are compared exactly; another version is another extension.'),
    practice('B-146', allVersions, 'Their data is in `metadata` under the URI. They add no fields and no states.'),
    must('B-147', allVersions, 'Methods of an extension are authorized and validated like any other.', {
      open: 'no built-in extension has methods',
    }),
    should('B-148', allVersions, 'An extension that only carries data is not marked as required.'),
    must('B-149', v1, 'Built-in extensions are off: the server declares only those that it lists.'),
  ],
}

export const trust: Section = {
  title: 'Authentication and authorization',
  about: 'Who calls, and what the caller may see.',
  rules: [
    must('B-150', allVersions, 'Every request is authenticated by the transport, never by its payload.'),
    should(
      'B-151',
      allVersions,
      'Missing or invalid credentials give 401 with a challenge, missing permissions 403, each in the shape of the binding.',
    ),
    must('B-152', allVersions, 'Clients send their credentials with every request.'),
    must('B-153', v1, 'Every operation is authorized before any lookup.'),
    should(
      'B-154',
      allVersions,
      'Permissions may be limited by skill and scope: the requirements of a skill add to those of the card. A message names its skill in `metadata.skillId`.',
    ),
    must('B-155', v1, 'A task that needs a credential stops in AUTH_REQUIRED with a message that explains it.'),
    must(
      'B-156',
      v1,
      'The credential arrives out of band; the task may continue without a message of the client, and accepts messages while it waits.',
    ),
    should('B-157', v1, 'A client of a task in AUTH_REQUIRED subscribes or polls.'),
    must('B-158', v1, 'AUTH_REQUIRED grants no permission: every message is authorized again.'),
    should('B-159', v1, 'Credentials sent inside a message are bound to the agent that asked.', {
      open: 'the format of a credential binds it; in transit TLS protects it, and no log contains it',
    }),
    must(
      'B-160',
      allVersions,
      'A task of another caller is "not found", with the same response as for one that does not exist.',
    ),
    practice(
      'B-161',
      legacyVersions,
      'In 0.x the details are in the status message and the next message of the client is the answer.',
    ),
    should(
      'B-172',
      v1,
      'The certificate of the peer is checked against the name that was called. Node, or the proxy that terminates TLS, selects the TLS version (1.2 or newer).',
    ),
  ],
}

export const reliability: Section = {
  title: 'Repetition and equivalence',
  about: 'What may be repeated safely, and what all bindings share.',
  rules: [
    practice('B-162', allVersions, 'Reading changes nothing and may be repeated.'),
    may(
      'B-163',
      allVersions,
      'A message with the caller, the agent, the message id and the content of one that came in the last 24 hours is a repeat: while the first is running, the second joins it; afterwards it gets the same task, and as a stream the same events from the start. Content is compared in its canonical form, whatever its version or binding. Other content under a used id is a new message, and inside one task it is refused with the reason MESSAGE_ID_REUSED. A repeat of an anonymous caller counts only if its id is a UUID that cannot be guessed. The window is configurable and declared on the card by the cursor extension.',
    ),
    decision(
      'B-164',
      allVersions,
      'A client repeats a send under the same message id, with the same content, and only within the window that the card declares.',
    ),
    decision(
      'B-167',
      v1,
      'A tenant cannot have a reserved path name: `message:send`, `tasks`, `v1`, `.well-known` and the like.',
    ),
    must('B-168', allVersions, 'Every binding offers the same operations with the same meaning and the same errors.'),
    decision('B-174', allVersions, 'An unknown state is read as "unknown" and causes no error.'),
    should('B-175', ['0.3'], '0.3 requires at least sending, reading and canceling.'),
  ],
}
