/** Programs that submit a text and look again until it is done. */
import { type RequirementGroup, requirement } from '../requirement.ts'

export const simpleTasks: RequirementGroup = {
  title: 'Simple tasks',
  about:
    'A program that knows no protocol posts a text to `/a2a/tasks/send` and asks at `/a2a/tasks/{id}` how far it is; and it calls others in the same way. `profiles: { simpleTasks: true }` serves these two routes over the default agent ([run-the-hub.md](run-the-hub.md)); the client speaks them to peers whose card lists no interface ([clients.md](clients.md)), and so do hubs to agents of `kind: a2a`. `@parley/a2a/simple` has the same as a module of functions, by the names that were asked for ([simple.md](simple.md)).',
  requirements: [
    requirement('S0-1', 'A task is `submitted`, `working`, `completed` or `failed`.', {
      instead:
        'On these two routes. Inside, a task has all states: what waits for input or sign-in is `working` here, what was canceled or rejected is `failed`.',
    }),
    requirement('S0-2', 'A message has a role, `user` or `agent`, and text parts.'),
    requirement('S0-3', 'A task is flat: id, state, messages, session id, when it was made and when it last changed.', {
      instead: 'On the routes of a hub the session is the context of the protocol, and is there from the start.',
    }),
    requirement('S0-4', 'A task is sent to `POST /a2a/tasks/send`, its parameters in an envelope or bare.'),
    requirement('S0-5', 'A task is looked up at `GET /a2a/tasks/{id}`; one that is not there is 404.'),
    requirement(
      'S0-6',
      'What handles a task is given what it depends on: a database, a process manager, and what lists agents and creates sessions.',
    ),
    requirement('S0-7', 'What came of a call is `{ success, taskId, responseText, error }`.'),
    requirement('S0-8', 'A card is fetched from `/.well-known/agent-card.json` and kept for five minutes.', {
      instead: 'Five minutes where the answer does not say how long; where it does, that counts.',
    }),
    requirement('S0-9', 'Looking for an agent that cannot be found gives nothing, and no error.'),
    requirement('S0-10', 'What is kept of cards, and of tasks, can be forgotten on request.'),
    requirement('S0-11', 'One call submits a text and waits for the answer.'),
    requirement('S0-12', 'A task that is sent is answered at once, before its agent is done.'),
    requirement('S0-13', 'A task can be looked up by its id alone.', {
      instead: 'On the routes of a hub, by the caller that it belongs to.',
    }),
    requirement('S0-14', 'The card of an agent is enriched by its persona and its bundles of skills.'),
    requirement('S0-15', 'States only move forward.'),
    requirement(
      'S0-16',
      'What the process behind an agent does drives the state: its end completes the task, its error fails it.',
      {
        instead:
          'For agents of `kind: command`, an exit with 0 completes, any other fails, and one that was stopped by a cancel is canceled.',
      },
    ),
    requirement('S0-17', 'A task goes to the first agent that is marked as the default.'),
    requirement('S0-18', 'The store keeps 1,000 tasks; beyond that the oldest finished ones go, 100 at a time.', {
      instead: 'The memory store does. For the others `retention` says it.',
    }),
    requirement('S0-19', 'A task that is active is never removed.'),
    requirement('S0-20', 'A task that takes longer than `timeoutMs` (5 minutes) fails with "Task timed out".'),
    requirement('S0-21', 'A task that has ended is not ended a second time by its timer.'),
    requirement('S0-22', 'A card that is fresh is not fetched again; stale ones are dropped.'),
    requirement('S0-23', 'A card without a name or a version is refused, and the field is named.'),
    requirement('S0-24', 'Without a stream a task is polled every three seconds.'),
    requirement('S0-25', 'The text of an answer is what the agent said last.'),
    requirement('S0-26', 'Every tool that is registered is a skill of the card, with a name for people and tags.'),
    requirement('S0-27', 'Sessions that agents asked for say so: `source` is `agent`.'),
    requirement('S0-28', 'Where an agent may use some tools only, its card lists those.'),
    requirement(
      'S0-29',
      'A task is submitted, then working; what the process says becomes messages; its end completes it.',
    ),
    requirement('S0-30', 'A task with five seconds and no end fails with "Task timed out".'),
    requirement('S0-31', 'Calling a remote agent gives its task id and the text of its answer.'),
    requirement('S0-32', 'Two minutes after a card was fetched nothing is asked; after six it is fetched again.'),
    requirement(
      'S0-33',
      'Without an agent marked as the default, a task is refused: 404, "Agent with default project".',
    ),
    requirement('S0-34', 'Each way a remote call can fail has its own message.'),
    requirement('S0-35', '`PORT` and `BIND_HOST` say where the hub is, and cards follow.'),
    requirement(
      'S0-36',
      'Addresses that strangers name are checked, callers are limited, chains of calls have a depth.',
    ),
  ],
}
