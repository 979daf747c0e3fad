/** Push notifications, the sender's side. */
import { allVersions, decision, must, legacyVersions, should, v1 } from '../rule.ts'
import type { Section } from '../rule.ts'

export const pushing: Section = {
  title: 'Push notifications',
  about: 'Notifying a webhook of the events of a task. docs/guides/push.md has the guarantees.',
  rules: [
    must('B-115', allVersions, 'A server without push notifications refuses all four of their operations with -32003.'),
    must(
      'B-116',
      allVersions,
      'Setting a config returns it with its id: the given one, or one that the server creates. The same id again replaces it; in 0.x, where the id is optional, the config without an id is replaced.',
    ),
    must(
      'B-117',
      allVersions,
      'An unknown task is -32001, and so is an unknown config of a known one. Listing returns all configs of a task, in pages if the version has them.',
    ),
    must('B-118', v1, 'Deleting is final and may be repeated. Nothing is sent afterwards.'),
    must('B-119', v1, 'A config lasts until its task has ended or it is deleted, whatever happens to the server.'),
    decision('B-120', allVersions, 'No response of any version returns tokens or credentials.'),
    must(
      'B-121',
      v1,
      'A notification is a POST of application/a2a+json with exactly one of task, message, statusUpdate and artifactUpdate.',
    ),
    should(
      'B-122',
      legacyVersions,
      'A notification is the whole task with its `kind`, as application/json. It is skipped if the task is the one last delivered to that config.',
    ),
    decision(
      'B-123',
      allVersions,
      'Notifications have the version in which the webhook was set, whatever versions other clients of the task use.',
    ),
    must('B-124', v1, 'The Authorization header has the scheme and the credentials of the config.'),
    must(
      'B-125',
      legacyVersions,
      'The first of the schemes is used. Bearer without credentials gets a JWT of the server, if it signs.',
    ),
    should(
      'B-126',
      allVersions,
      'The token of the config is sent in X-A2A-Notification-Token, with and without credentials.',
    ),
    must(
      'B-127',
      allVersions,
      'Every event is sent at least once (in 0.x within its task), in the order of its task for each webhook, and no webhook waits for another.',
    ),
    should(
      'B-128',
      allVersions,
      'A failure (no response, 3xx, 408, 425, 429, 5xx) is retried with growing, randomized pauses or after Retry-After, and finally becomes a dead letter. Other 4xx are a dead letter at once, 410 ends the config.',
    ),
    should(
      'B-129',
      allVersions,
      'Webhooks need public https addresses unless the operator allows others. The address is checked at registration, and the resolved address again when connecting. Redirects are not followed.',
    ),
    decision(
      'B-130',
      allVersions,
      'Secrets cannot break out of their header, a task has a limited number of webhooks, and response bodies are not read.',
    ),
    should('B-131', allVersions, 'Secrets are stored encrypted. A webhook may be validated before it is used.'),
    should(
      'B-132',
      allVersions,
      'Webhooks are notified of every status and every finished artifact, or of every chunk if configured.',
    ),
    decision('B-135', allVersions, 'A webhook receives the events after it was set, not earlier ones.'),
    must('F-12', v1, 'Notifications are plain HTTP with the JSON of REST, whatever binding set the config.'),
  ],
}
