/** Programs that submit a text and look again until it is done. */
import { type RequirementGroup, requirement } from '../requirement.ts'

export const simpleTasks: RequirementGroup = {
  title: 'Simple tasks',
  about:
    'A program without A2A support posts a text to `/a2a/tasks/send` and polls the task at `/a2a/tasks/{id}`; it calls others in the same way. `profiles: { simpleTasks: true }` serves these two routes over the default agent ([Run the hub](../guides/run-the-hub.md)); the client uses them for peers whose card lists no interface ([Call an agent](../guides/clients.md)), and so do hubs for agents of `kind: a2a`. `@parley/a2a/simple` has the same as a module of functions, with the requested names ([Simple tasks over REST](../guides/simple.md)).',
  requirements: [
    requirement('S0-1', 'A task is `submitted`, `working`, `completed` or `failed`.', {
      instead:
        'On these two routes. Internally, a task has all states: one that waits for input or sign-in is `working` here, a canceled or rejected one is `failed`.',
    }),
    requirement('S0-2', 'A message has a role, `user` or `agent`, and text parts.'),
    requirement('S0-3', 'A task is flat: id, state, messages, session id, and the times of creation and last change.', {
      instead: 'On the routes of a hub the session is the A2A context, and exists from the start.',
    }),
    requirement('S0-4', 'A task is sent to `POST /a2a/tasks/send`, its parameters in an envelope or bare.'),
    requirement('S0-5', 'A task is looked up at `GET /a2a/tasks/{id}`; an unknown one is 404.'),
    requirement(
      'S0-6',
      'The handler of a task receives its dependencies: a database, a process manager, and functions that list agents and create sessions.',
      {
        instead:
          '`listAgents` and `createSession` must be passed, or be methods of `db`: the SDK does not know the tables of a program, so it has no default that reads them from a `Database` of `bun:sqlite`.',
      },
    ),
    requirement('S0-7', 'The result of a call is `{ success, taskId, responseText, error }`.'),
    requirement('S0-8', 'A card is fetched from `/.well-known/agent-card.json` and cached for five minutes.', {
      instead: 'Five minutes unless the response sets another time.',
    }),
    requirement('S0-9', 'Discovery of an unknown agent returns nothing, and no error.'),
    requirement('S0-10', 'The caches of cards and of tasks can be cleared.'),
    requirement('S0-11', 'One call submits a text and waits for the answer.'),
    requirement('S0-12', 'A send returns at once, before the agent has finished.'),
    requirement('S0-13', 'A task can be looked up by its id alone.', {
      instead: 'On the routes of a hub, by the caller that it belongs to.',
    }),
    requirement('S0-14', 'The card of an agent is enriched by its persona and its bundles of skills.'),
    requirement('S0-15', 'States only move forward.'),
    requirement(
      'S0-16',
      'The process behind an agent drives the state: its exit completes the task, its error fails it.',
      {
        instead:
          'For agents of `kind: command`, exit code 0 completes, any other code fails, and a process stopped by a cancel is canceled.',
      },
    ),
    requirement('S0-17', 'A task goes to the first agent that is marked as the default.'),
    requirement(
      'S0-18',
      'The store keeps 1,000 tasks; beyond that the oldest finished ones are removed, 100 at a time.',
      {
        instead: 'The memory store does. The others follow `retention`.',
      },
    ),
    requirement('S0-19', 'A task that is active is never removed.'),
    requirement('S0-20', 'A task that exceeds `timeoutMs` (5 minutes) fails with "Task timed out".'),
    requirement('S0-21', 'A task that has ended is not ended a second time by its timer.'),
    requirement('S0-22', 'A fresh card is not fetched again; stale ones are dropped.'),
    requirement('S0-23', 'A card without a name or a version is refused, and the field is named.'),
    requirement('S0-24', 'Without a stream a task is polled every three seconds.'),
    requirement('S0-25', 'The text of an answer is the last message of the agent.'),
    requirement('S0-26', 'Every tool that is registered is a skill of the card, with a readable name and tags.'),
    requirement('S0-27', 'Sessions that agents requested have the `source` `agent`.'),
    requirement('S0-28', 'If an agent may use only some tools, its card lists those.'),
    requirement(
      'S0-29',
      'A task is submitted, then working; the output of the process becomes messages; its exit completes it.',
    ),
    requirement('S0-30', 'A task with a limit of five seconds and no end fails with "Task timed out".'),
    requirement('S0-31', 'A call of a remote agent returns its task id and the text of its answer.'),
    requirement(
      'S0-32',
      'Two minutes after a card was fetched there is no request; after six minutes it is fetched again.',
    ),
    requirement(
      'S0-33',
      'Without an agent marked as the default, a task is refused: 404, "Agent with default project".',
    ),
    requirement('S0-34', 'Each failure of a remote call has its own message.'),
    requirement('S0-35', '`PORT` and `BIND_HOST` set the address of the hub, also on cards.'),
    requirement(
      'S0-36',
      'Addresses from untrusted sources are checked, callers are rate limited, chains of calls have a maximum depth.',
    ),
  ],
}
