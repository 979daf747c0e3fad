/**
 * The requirements of the a2a-cli specification, 0.2 as revised on 2026-08-17, in our own words: id, tier, the sections of the
 * specification, and what a tool has to do. The areas `OUT_008` and `SERVE` are retired.
 */

export type Tier = 1 | 2 | 3

export interface Requirement {
  readonly tier: Tier
  readonly area: string
  /** Sections of the specification. */
  readonly spec: string
  readonly requirement: string
}

export const specification = { version: '0.2', revision: '2026-08-17' } as const

const tier1 = {
  CARD_GET_001: [
    '§10.1, §13',
    'card get reads a card from a host, a URL or a file, and the card decides the transport',
  ],
  SEND_001: ['§10.2', 'send starts an interaction with a message'],
  SEND_002: ['§10.2, §6.5', 'send waits by default; --async returns the identifiers at once'],
  SEND_003: [
    '§10.2, §9.2',
    '--stream follows events where the agent streams, never hangs where it does not, and ends cleanly after a Message',
  ],
  SEND_004: ['§10.2', 'Artifacts are rendered, and no part is dropped'],
  SEND_005: ['§10.2', '--media-type sets the type of the part before it; a type is inferred only if none is given'],
  SEND_006: ['§10.2', '--text, --file and --data repeat and keep their order; --data - reads stdin'],
  TASK_GET_001: ['§10.3', 'task get shows state, artifacts and history of a task'],
  TASK_CANCEL_001: ['§10.4', 'task cancel is idempotent and reports the resulting state'],
  INTERACT_001: ['§8.1', '--context-id continues an interaction'],
  INTERACT_002: [
    '§8.1',
    '--task-id continues a task, with or without --context-id; a refused id fails, starts no task, shows the protocol error and points to --debug',
  ],
  INTERACT_003: ['§4.1, §4', 'Identifiers of the server are never invented, and a context is not taken for a chat'],
  INTERACT_004: [
    '§8.2',
    'Task, context and state are reported at the end and at an interruption, with the exact command to resume',
  ],
  INTERACT_005: ['§6.3, §4.1, §8.3', 'No identifier is stored to be replayed, and there is no --continue'],
  TASK_POLL_001: ['§9.3', 'task get reads once; with --wait it polls until the task ends or is interrupted'],
  TASK_POLL_002: [
    '§9.3',
    '--poll-interval and --timeout are honoured, polling backs off, and an interrupt loses no printed task id',
  ],
  TASK_POLL_003: ['§9.1, §9.3', 'A wait ends at INPUT_REQUIRED and AUTH_REQUIRED, and continues at UNSPECIFIED'],
  TASK_POLL_004: ['§9.3', 'A wait whose stream fails continues by polling'],
  OUT_001: [
    '§11.1, §11.5, §8.2',
    'Every result about a task names context, task and state; results go to stdout, everything else to stderr',
  ],
  OUT_002: ['§11.3, App. B', '-o json prints exactly one document, the final protocol object'],
  OUT_003: [
    '§11.3, §11.4, App. B',
    '-o json --stream prints one object per line, at last the final event or an error object',
  ],
  OUT_004: [
    '§11.4, App. B, App. D',
    'Errors are the same over every binding: A2A names, A2ACLI_ERR_* codes, hints; no invented codes',
  ],
  OUT_005: [
    '§11.2, §6.1',
    'Text has one "Label: value" per line, stable labels, closed blocks, no control sequences, and nothing interactive off a terminal',
  ],
  OUT_006: ['§11.5', 'The result of --async carries the task and the context'],
  EXIT_001: [
    '§11.6, App. D',
    'Exit codes 0, 1 and 2 exist; 3, 4 and 5 keep their reserved meaning and agree with the error',
  ],
  EXIT_002: [
    '§6.6, §11.6',
    'A reported turn exits with 0 whatever the task decided; stderr warns of a failure or a pause',
  ],
  AUTH_001: [
    '§12.1',
    'Bearer tokens and API keys are attached as the card declares; --svc-param is separate and not for authentication',
  ],
  AUTH_002: [
    '§12.1, §6.5',
    'Every credential option has an environment variable, and help names the exposure of the option',
  ],
  AUTH_003: [
    '§12.1, §6.5',
    'A credential over an unverified connection raises a prominent warning; verification is never disabled silently',
  ],
  AUTH_004: ['§12.1, §7.2', 'Credentials are redacted everywhere, also in the wire log; no option lifts it'],
  TX_001: ['§13.1', 'The transport is selected from the card, in its order'],
  TX_002: ['§13.1, §6.5', 'The first supported interface is used; --transport repeats and is ordered'],
  TX_003: ['§13.1', 'The tenant of the selected interface is set in every request, and omitted where there is none'],
  VER_001: ['§13.2', 'A2A-Version is sent with every request, stays at 1.0 or above, and never falls silently'],
  DEFAULT_001: ['§6.5', 'The six defaults are shipped, visible in help, and overridable'],
  CONFIG_001: ['§8.3', 'What persists is in the conventional place, private, visible and removable; no session state'],
  CLI_001: ['§7.1, §7.2, §6.5', 'help, --help and --version; help shows the effective defaults'],
  SKILL_001: ['§14.1, §14.2', 'Exactly one Agent Skill, lean, which refers to runtime help'],
  SKILL_002: ['§14.3', 'The skill restates no requirement of the specification'],
} as const

const tier2 = {
  CARD_GET_002: ['§10.1', 'card get --validate checks a card against the schema of A2A'],
  TASK_LIST_001: ['§7.1, App. A', 'task list pages by cursor and filters by status and context'],
  TASK_SUBSCRIBE_001: ['§7.1, §9.2', 'task subscribe follows the events of a task'],
  TASK_SUBSCRIBE_002: ['§9.4, §9.2', 'A cut stream is resumed, and its first event brings the whole task'],
  AUTH_005: ['§12.2', 'auth login by device code'],
  AUTH_006: ['§12.2', 'auth login by client credentials'],
  AUTH_007: ['§12.2', 'Tokens are stored securely and attached to later calls'],
  TX_004: ['§13.1', 'At least two transports, selectable'],
  VER_003: ['§13.3', 'The card is checked before streaming, push and extended-card operations'],
  CONFIG_002: [
    '§8.3',
    'Options win over environment, local file, global file and default; config show names the source of each value',
  ],
  DOWNLOAD_001: ['§7.1', 'task download saves artifacts'],
  OUT_007: ['§7.2', '--debug writes the raw protocol messages to stderr'],
  CONFORM_001: ['§7.1', 'conformance checks a live agent'],
  CLI_002: ['§7.1', 'completion prints a script for a shell'],
  PUSH_001: ['§7.1, App. A', 'task push-config creates, reads, lists and deletes'],
} as const

const tier3 = {
  CARD_GET_003: ['§10.1, §12.4', 'The extended card is fetched only with a scheme of the public card'],
  CARD_GET_004: [
    '§10.1',
    'Card signatures are verified and reported as verified, unverifiable or absent; absence is no failure',
  ],
  CARD_GET_005: ['§10.1', 'A catalog entry is accepted as a card reference and resolved first'],
  PUSH_002: ['§9.2', 'A local receiver accepts push notifications'],
  CHAT_001: ['§8.1, §7.1', 'chat carries context and task across turns'],
  TX_005: ['§13.1', 'gRPC'],
  AUTH_008: ['§12.4', 'No credential is shown to a card endpoint that declares no scheme for it'],
  AUTH_009: ['§12.3', 'Mutual TLS'],
  AUTH_010: ['§12.3', 'OpenID Connect'],
  AUTH_011: ['§12.3', 'AUTH_REQUIRED in a task is shown and can be resolved'],
  DEMO_SERVER_001: ['§7.1, §3', 'A local agent to practise with'],
  VER_002: ['§13.3, A2A §4.6', 'Extensions that the card requires are declared'],
} as const

export type RequirementId = `A2ACLI_${keyof typeof tier1 | keyof typeof tier2 | keyof typeof tier3}`

function rowsOf(tier: Tier, rows: Readonly<Record<string, readonly [spec: string, requirement: string]>>) {
  return Object.entries(rows).map(([name, [spec, requirement]]): readonly [RequirementId, Requirement] => [
    `A2ACLI_${name}` as RequirementId,
    { tier, area: name.replace(/_\d+$/, ''), spec, requirement },
  ])
}

/** All 66, tier by tier, in the order of the specification. */
export const registry: ReadonlyMap<RequirementId, Requirement> = new Map([
  ...rowsOf(1, tier1),
  ...rowsOf(2, tier2),
  ...rowsOf(3, tier3),
])
