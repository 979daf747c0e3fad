/** What clients and webhook receivers do. Rules that bind both sides are listed with their topic. */
import { allVersions, decision, may, must, legacyVersions, practice, should, v1 } from '../rule.ts'
import type { Section } from '../rule.ts'

export const client: Section = {
  title: 'Clients',
  about: 'How an agent is found and called, in every version and binding. The `client` of the SDK keeps these.',
  rules: [
    must('B-1', v1, 'A client names its version in every request, also in the one for the card.'),
    should(
      'B-169',
      v1,
      'A client reads the card first: operations that the card does not declare fail without a request.',
    ),
    should('B-171', allVersions, 'Every request carries the W3C trace context.'),
    decision(
      'A-1',
      allVersions,
      'A subscription over REST uses POST. If a peer refuses that verb, the client uses GET from then on.',
    ),
    decision(
      'A-31',
      allVersions,
      'A version that a peer declares and then refuses leads to the next interface of its card, or to the other generation at the same address, and the client logs it. A pinned version has no fallback.',
    ),
    practice(
      'S0-8',
      allVersions,
      'The card is fetched from its well-known address and cached, for five minutes unless its server sets another time.',
    ),
    practice('S0-9', allVersions, 'Discovery returns the card or nothing, never an error.'),
    practice('S0-10', allVersions, 'The card cache can be cleared.'),
    practice('S0-22', allVersions, 'A fresh card is not fetched again, and an expired one is dropped.'),
    practice('S0-23', allVersions, 'A card without a name or a version is refused, and the field is named.'),
    practice(
      'S0-32',
      allVersions,
      'Two minutes after a card was fetched there is no request; after six minutes it is fetched again.',
    ),
    practice(
      'S0-36',
      allVersions,
      'Addresses from untrusted sources are checked before they are called, and every wait has a limit.',
    ),
    practice(
      'S2-13',
      legacyVersions,
      'An agent calls a tool of its client by a question with an `input-request`; the answer is the result of the tool.',
    ),
  ],
}

export const skillInvocation: Section = {
  title: 'One question, one answer',
  about: 'The shortest way to use an agent: send a text, get the result as plain data.',
  rules: [
    practice('S0-7', allVersions, 'The result is `{ success, taskId, responseText, error }`.'),
    practice('S0-11', allVersions, 'One call submits the text and waits for the end.'),
    practice('S0-31', allVersions, 'A success has the id of the task and the text of the answer.'),
    practice('S0-24', allVersions, 'Without a stream the task is polled, every three seconds by default.'),
    practice('S0-25', allVersions, 'The text is that of the artifacts, or else the last message of the agent.'),
    practice(
      'S0-34',
      allVersions,
      'A failure has its reason: the HTTP status, the timeout, or the message of the agent.',
    ),
    practice(
      'S0-4',
      allVersions,
      'A peer whose card lists no interface, or a 0.x address without A2A, gets its task at `/a2a/tasks/send`.',
    ),
    practice('S0-5', allVersions, 'That task is polled at `/a2a/tasks/{id}`.'),
  ],
}

export const webhookReceiver: Section = {
  title: 'Receiving webhooks',
  about: 'The receiver of push notifications: a handler that passes on authentic ones, once.',
  rules: [
    must(
      'B-133',
      v1,
      'A receiver responds quickly, authenticates the sender, accepts only what it expects, and handles a repeated notification once.',
    ),
    decision(
      'B-134',
      allVersions,
      'A signed notification has a JWT that is valid for one receiver, task, time and body. It is verified against keys that the sender publishes and may rotate.',
    ),
    practice('T-7', allVersions, 'Signature or token, age and repetition are checked before the content is used.'),
    may('T-8', legacyVersions, 'A receiver may confirm a webhook by echoing a validation token.'),
  ],
}
