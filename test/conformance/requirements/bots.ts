/** Many bots behind one gateway, called by each other and from outside. */
import { type RequirementGroup, requirement } from '../requirement.ts'

export const bots: RequirementGroup = {
  title: 'Bots behind one gateway',
  about:
    'One hub in front of many bots, each with its own address, card and keys, and an OpenClaw gateway behind it ([Serve an agent of an OpenClaw gateway](../guides/agents/openclaw.md)).',
  requirements: [
    requirement('S4-1', 'Each bot has its own endpoint, `POST /a2a/{bot}`.'),
    requirement('S4-2', 'Its card is at `/a2a/{bot}/agent-card`, without credentials.'),
    requirement('S4-3', '`/a2a/{bot}/.well-known/agent` serves the card.'),
    requirement(
      'S4-4',
      '`POST /a2a/{bot}/api-key/generate` creates a key for the bot, shown once, for a caller with a token.',
    ),
    requirement('S4-5', '`message/send`, `message/stream`, `tasks/get` and `tasks/cancel`; others are -32601.', {
      instead: 'And all other operations of the protocol.',
    }),
    requirement('S4-6', 'The envelope is checked, then the parameters of each method.'),
    requirement(
      'S4-7',
      'The gateway receives the prompt, the conversation, a timeout, an idempotency key, the agent and attachments.',
    ),
    requirement('S4-8', 'One-shot calls go by HTTP, streams by WebSocket.', {
      instead: 'That is `transport: split`. By default both go by WebSocket, which can be re-attached to.',
    }),
    requirement('S4-9', 'A run is acknowledged, reports its events in order, and ends with a result.'),
    requirement('S4-10', 'Text and files are forwarded; data is refused; 5 MB at most.', {
      instead:
        'Data is refused as CONTENT_TYPE_NOT_SUPPORTED. The size limits are those that the gateway declares, 5 MB if none.',
    }),
    requirement('S4-11', 'One set of types for envelopes, cards, parts, tasks and events.'),
    requirement('S4-12', 'Codes for an unknown task, an unsupported part and an unavailable agent.', {
      instead: 'The official numbers, and -32093 with 503 for an unavailable agent.',
    }),
    requirement('S4-13', 'The card has name and description of the bot, its own url, and the authentication schemes.', {
      instead: 'As security schemes, in the shape of each version; a token and a key are alternatives.',
    }),
    requirement('S4-14', 'Its skills are those of the live configuration and the configured ones, each once.'),
    requirement('S4-15', 'A bearer token is tried as a JWT, then as a key of the bot.'),
    requirement('S4-16', 'A message is checked, routed by rules, run with an idempotency key, and traced.'),
    requirement('S4-17', 'Deltas, tool calls and gaps are reported while it runs; the answer is an artifact.', {
      instead: 'Deltas are chunks of the artifact itself, so that no text is sent twice.',
    }),
    requirement('S4-18', 'The id of the task is that of its trace; state and history are available on request.'),
    requirement('S4-19', 'A cancel reaches the gateway; later reports do not change a canceled task.'),
    requirement('S4-20', 'A run has an id, ends after ten minutes, and leaves no state behind.'),
    requirement('S4-21', 'Bots of one hub call each other by real tasks.'),
    requirement('S4-22', 'Delegation answers older callers in their format.'),
    requirement('S4-23', 'A page shows the card, the endpoint, the skills, a key once, and a command to try.'),
    requirement('S4-24', 'One agent of the gateway for each bot, by its id.'),
    requirement('S4-25', 'All of it is verified by end-to-end tests.'),
  ],
}
