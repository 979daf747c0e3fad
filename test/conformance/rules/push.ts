/** Push notifications, the sender's side. */
import { allVersions, decision, must, legacyVersions, should, v1 } from '../rule.ts'
import type { Section } from '../rule.ts'

export const pushing: Section = {
  title: 'Push notifications',
  about: 'Telling a webhook of what happens to a task. docs/push.md says what to rely on.',
  rules: [
    must('B-115', allVersions, 'A server without push notifications refuses all four of their operations with -32003.'),
    must(
      'B-116',
      allVersions,
      'Setting a config answers it with its id: the given one, or one that the server makes. The same id again replaces it; in 0.x, where it may have none, the one without an id is replaced.',
    ),
    must(
      'B-117',
      allVersions,
      'An unknown task is -32001, and so is an unknown config of a known one. Listing shows all configs of a task, by pages where the version has them.',
    ),
    must('B-118', v1, 'Deleting is final and may be repeated. Nothing is sent afterwards.'),
    must('B-119', v1, 'A config lasts until its task has ended or it is deleted, whatever happens to the server.'),
    decision('B-120', allVersions, 'Tokens and credentials are never shown again, in no answer and no version.'),
    must(
      'B-121',
      v1,
      'A notification is a POST of application/a2a+json with exactly one of task, message, statusUpdate and artifactUpdate.',
    ),
    should('B-122', legacyVersions, 'A notification is the whole task with its `kind`, as application/json.'),
    decision(
      'B-123',
      allVersions,
      'A webhook is told in the version it was asked for in, whatever else is spoken with the task.',
    ),
    must('B-124', v1, 'The Authorization header has the scheme and the credentials of the config.'),
    must(
      'B-125',
      legacyVersions,
      'The first of the schemes is used. Bearer without credentials gets a JWT of ours, if the server signs.',
    ),
    should(
      'B-126',
      allVersions,
      'The token of the config comes in X-A2A-Notification-Token, whether there are credentials or not.',
    ),
    must(
      'B-127',
      allVersions,
      'Every event is tried at least once, those of a task in order for each webhook, and none waits for another webhook.',
    ),
    should(
      'B-128',
      allVersions,
      'What fails (no answer, 3xx, 408, 425, 429, 5xx) is tried again after growing, spread-out waits, as Retry-After wishes, and is then a dead letter. Other 4xx are a dead letter at once, 410 ends the config.',
    ),
    should(
      'B-129',
      allVersions,
      'Webhooks are at public https addresses unless the operator allows others: looked at when they are registered and, where the name really leads, when the connection is made. Redirects are not followed.',
    ),
    decision(
      'B-130',
      allVersions,
      'Secrets cannot break out of their header, a task has a limited number of webhooks, and answers are not read to their end.',
    ),
    should('B-131', allVersions, 'Secrets are kept encrypted. A webhook may be asked beforehand whether it awaits us.'),
    should(
      'B-132',
      allVersions,
      'Webhooks are told of every status and of every finished artifact, or of every chunk if the server says so.',
    ),
    decision('B-135', allVersions, 'A webhook is told of what comes after it was set, not of what was.'),
    must('F-12', v1, 'Notifications are plain HTTP with the JSON of REST, whatever binding the config came by.'),
  ],
}
