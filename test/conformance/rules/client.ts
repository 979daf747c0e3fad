/** What clients and webhook receivers do. Rules that bind both sides are listed with their topic. */
import { allVersions, decision, may, must, legacyVersions, practice, should, v1 } from '../rule.ts'
import type { Section } from '../rule.ts'

export const client: Section = {
  title: 'Clients',
  about: 'How an agent is found and called, whatever it speaks. The `client` of the SDK keeps these.',
  rules: [
    must('B-1', v1, 'A client names its version in every request, also in the one for the card.'),
    should(
      'B-169',
      v1,
      'A client looks at the card first: what an agent does not promise is refused without asking it.',
    ),
    should('B-171', allVersions, 'W3C trace context is passed on with every request.'),
    decision(
      'A-1',
      allVersions,
      'A subscription over REST is asked for by POST and, from a peer that refuses that verb, by GET from then on.',
    ),
    decision(
      'A-31',
      allVersions,
      'A version that a peer declares and then refuses leads to the next interface of its card, or to the other generation at the same address, and the client logs it; not so if the version is pinned.',
    ),
    practice(
      'S0-8',
      allVersions,
      'The card is looked for at its well-known address and kept for five minutes where its server does not say how long.',
    ),
    practice('S0-9', allVersions, 'A client that only looks for an agent gets its card or nothing, never an error.'),
    practice('S0-10', allVersions, 'The cards that are kept can be forgotten on request.'),
    practice(
      'S0-22',
      allVersions,
      'A card that is fresh is not fetched again, and one that is of no more use is dropped.',
    ),
    practice('S0-23', allVersions, 'A card without a name or a version is refused, and the field is named.'),
    practice(
      'S0-32',
      allVersions,
      'Two minutes after a card was fetched nothing is asked; after six it is fetched again.',
    ),
    practice(
      'S0-36',
      allVersions,
      'Addresses that strangers name are checked before they are called, and every wait has an end.',
    ),
    practice(
      'S2-13',
      legacyVersions,
      'An agent asks for a tool of its client by a question that carries an `input-request`; the answer is the result of the tool.',
    ),
  ],
}

export const skillInvocation: Section = {
  title: 'One question, one answer',
  about: 'The shortest way to use an agent: a text goes out, and what came of it comes back as plain data.',
  rules: [
    practice('S0-7', allVersions, 'What came of it is `{ success, taskId, responseText, error }`.'),
    practice('S0-11', allVersions, 'The text is submitted and the end waited for, in one call.'),
    practice('S0-31', allVersions, 'A success has the id of the task and the text of the answer.'),
    practice('S0-24', allVersions, 'Without a stream the task is polled, every three seconds unless set otherwise.'),
    practice('S0-25', allVersions, 'The text is that of the artifacts, else what the agent said last.'),
    practice(
      'S0-34',
      allVersions,
      'A failure says why: the status of the refusal, the time that has passed, or the agent’s own words.',
    ),
    practice(
      'S0-4',
      allVersions,
      'A peer whose card lists no interface, or a 0.x address at which no A2A is served, is given its task at `/a2a/tasks/send`.',
    ),
    practice('S0-5', allVersions, 'It is asked for that task at `/a2a/tasks/{id}`.'),
  ],
}

export const webhookReceiver: Section = {
  title: 'Receiving webhooks',
  about: 'The other end of push notifications: a handler that lets through what is genuine, once.',
  rules: [
    must(
      'B-133',
      v1,
      'A receiver answers soon, checks who sends, takes only what it expects, and handles what comes twice once.',
    ),
    decision(
      'B-134',
      allVersions,
      'A signed webhook brings a JWT that holds for one receiver, task, time and body. It is verified against keys that its sender publishes and may change.',
    ),
    practice('T-7', allVersions, 'Signature or token, age and repetition are checked before anything is believed.'),
    may('T-8', legacyVersions, 'A receiver may show that it wants the webhooks by echoing a validation token.'),
  ],
}
