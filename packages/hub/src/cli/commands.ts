/** The commands of `parley`, in the order of the help. Their modules load when they run, so that help loads only this table. */
import { completionScript, shells, type OptionSpec, type ProgramSpec } from '@parley/cli/internal'
import { usageError, type Command, type RunCommand } from './command.ts'

const config: OptionSpec = {
  name: 'config',
  short: 'c',
  takes: '<file>',
  summary: 'Default: parley.yaml, parley.yml or parley.json in this folder.',
}

/** Help has one line for all of them. */
export const overrideOptions: readonly OptionSpec[] = [
  { name: 'host', takes: '<address>', summary: 'Overrides `listen.host`.' },
  { name: 'port', takes: '<port>', summary: 'Overrides `listen.port`.' },
  { name: 'grpc-port', takes: '<port>', summary: 'Overrides `listen.grpcPort`.' },
  { name: 'store', takes: '<url>', summary: 'Overrides `store`.' },
  {
    name: 'data',
    takes: '<folder>',
    summary: 'The data directory. Default: `.parley` beside the configuration file.',
  },
]

/** Of commands that read the configuration and do not run it: `secretReader` reads it. */
const runSecrets: OptionSpec = {
  name: 'run-secrets',
  summary:
    'Starts the programs and modules of `secrets` in the configuration. Default: PARLEY_RUN_SECRETS=1; otherwise no.',
}

const output: OptionSpec = {
  name: 'output',
  short: 'o',
  takes: '<format>',
  values: ['text', 'json'],
  summary: 'text or json. Default: text.',
}

const timeout: OptionSpec = {
  name: 'timeout',
  takes: '<seconds>',
  summary: 'How long to wait for the hub. Default 30.',
}

/** Of commands that inspect the configuration. */
const configOptions: readonly OptionSpec[] = [config, ...overrideOptions, runSecrets, output]

/** Of commands that ask a running hub. */
const hubOptions: readonly OptionSpec[] = [
  config,
  ...overrideOptions,
  {
    name: 'url',
    takes: '<url>',
    summary: 'URL of the hub. Default: PARLEY_URL, the hub that runs in the data directory, or the configuration.',
  },
  timeout,
  runSecrets,
  output,
]
const adminKeyNote =
  'The admin key is read from PARLEY_ADMIN_KEY, the configuration, or parley.admin-key in the data directory.'
const ownStoreNote = 'With --data, --store or -c and no running hub, the command works on the store itself.'

/** Of commands that open a store without the hub: `readStoreSettings` reads them. */
const storeOptions: readonly OptionSpec[] = [
  { ...config, summary: `The configuration that names the store. ${config.summary}` },
  { name: 'data', takes: '<dir>', summary: 'The SQLite store in this directory.' },
  {
    name: 'store',
    takes: '<url>',
    summary: 'sqlite:<file> or postgres://user:password@host/database. Overrides the configuration.',
  },
  runSecrets,
]

/** Of commands that change the configuration and ask the running hub about it. */
const configEditOptions: readonly OptionSpec[] = [
  {
    ...config,
    summary: `${config.summary.slice(0, -1)}; if there is none, a new parley.yaml with the demo agents.`,
  },
  { name: 'url', takes: '<url>', summary: 'URL of the running hub. Default: PARLEY_URL, or the configuration.' },
  timeout,
  runSecrets,
  output,
]

const follow = (what: string): OptionSpec => ({
  name: 'follow',
  short: 'f',
  summary: `Waits for new ${what} until Ctrl-C.`,
})

export const commands: readonly Command[] = [
  {
    name: 'up',
    summary: 'Starts the hub. Without a configuration it serves the demo agents.',
    options: [
      config,
      ...overrideOptions,
      {
        name: 'insecure',
        summary: 'Allows other addresses than loopback without `access` in the configuration.',
      },
      {
        name: 'accept-loss',
        summary: 'Starts even if the SQLite file has lost acknowledged writes. Default: refuses to start.',
      },
    ],
    load: async () => (await import('./run-hub.ts')).runHub,
  },
  {
    name: 'open',
    summary: 'Opens the console in a browser, signed in.',
    details: [
      'The link signs in once, within a minute. Without a browser on this machine, the command prints the link.',
      adminKeyNote,
      'With -o json, prints the link and when it expires.',
    ],
    options: [{ name: 'print', summary: 'Only prints the link, to open it on another machine.' }, ...hubOptions],
    load: async () => (await import('./open/open-command.ts')).openConsole,
  },
  {
    name: 'init',
    operands: '[folder]',
    operandCount: [0, 1],
    summary: 'Writes a new project: an agent, its test and parley.yaml.',
    details: ['The folder is created if it is missing. Default: this folder. Existing files are never overwritten.'],
    options: [
      {
        name: 'framework',
        takes: '<name>',
        summary: 'ai-sdk, langgraph, mastra, openai-agents or claude: the agent is one of that framework.',
      },
      output,
    ],
    load: async () => (await import('./init.ts')).writeProject,
  },
  {
    name: 'status',
    summary: 'Shows the health of a running hub: store, agents, tasks, backlogs.',
    details: ['Exits with 1 if the hub is degraded.', adminKeyNote],
    options: hubOptions,
    load: async () => (await import('./status-command.ts')).showStatus,
  },
  {
    name: 'logs',
    summary: 'Shows the log of a running hub.',
    details: [
      'A hub keeps up to 1,000 lines, and none from before its start. All are in its output (journalctl, kubectl logs).',
      adminKeyNote,
      'With -o json, one JSON object per line.',
    ],
    options: [
      follow('lines'),
      {
        name: 'tail',
        short: 'n',
        takes: '<n>',
        summary: 'How many of the last lines to show, up to 1000. Default 100.',
      },
      {
        name: 'level',
        takes: '<level>',
        values: ['debug', 'info', 'warn', 'error'],
        summary: 'The lowest level: debug, info, warn or error.',
      },
      ...hubOptions,
    ],
    load: async () => (await import('./logs-command.ts')).showLogs,
  },
  {
    name: 'doctor',
    summary: 'Checks Node, the configuration, ports, store, agents, clock and disk.',
    details: ['Exits with 1 if a check fails.', adminKeyNote],
    options: hubOptions,
    load: async () => (await import('./doctor-command.ts')).showFindings,
  },
  {
    name: 'verify',
    summary: 'Checks that every log, snapshot, counter, blob and index of a store is right.',
    details: [
      'Reads the store at one moment and changes nothing; the hub may run. Exits with 1 if something is wrong.',
    ],
    options: [...storeOptions, output],
    load: async () => (await import('./store/verify.ts')).verify,
  },
  {
    name: 'backup',
    operands: '<file>',
    operandCount: [1, 1],
    summary: 'Writes a backup of the whole store to a file, while the hub runs.',
    options: [
      ...storeOptions,
      {
        name: 'keyring',
        takes: '<keys>',
        values: ['wrapped', 'full', 'none'],
        summary: 'wrapped (default): keys without the master key. full: with the master key. none: no keys.',
      },
      output,
    ],
    load: async () => (await import('./store/back-up.ts')).backUp,
  },
  {
    name: 'restore',
    operands: '<file>',
    operandCount: [1, 1],
    summary: 'Restores a backup into an empty store of either kind. Stop the hub first.',
    options: [
      ...storeOptions,
      { name: 'list', summary: 'Shows what the backup is, and restores nothing.' },
      { name: 'check', summary: 'Also compares all checksums of the file.' },
      {
        name: 'omit-keys',
        summary: 'Restores without the keys of the keyring, for when the master key is lost.',
      },
      {
        name: 'accept-findings',
        summary: 'Restores a backup whose content contradicts itself, and lists what is wrong.',
      },
      {
        name: 'master-key-file',
        takes: '<file>',
        summary: 'Writes the master key of a backup with --keyring full to this file.',
      },
      output,
    ],
    load: async () => (await import('./store/restore.ts')).restore,
  },
  {
    name: 'export',
    operands: '<file|->',
    operandCount: [1, 1],
    summary: 'Writes the whole store as JSON lines, to move it to another kind of store. Stop the hub first.',
    options: [...storeOptions, output],
    load: async () => (await import('./store/back-up.ts')).exportStore,
  },
  {
    name: 'import',
    operands: '<file|->',
    operandCount: [1, 1],
    summary: 'Fills an empty store from an export. Stop the hub first.',
    options: [...storeOptions, output],
    load: async () => (await import('./store/restore.ts')).importStore,
  },
  {
    name: 'config check',
    summary: 'Validates the configuration and lists all errors.',
    options: configOptions,
    load: async () => (await import('./config-commands.ts')).checkConfiguration,
  },
  {
    name: 'config print',
    summary: 'Shows the configuration with all defaults, without secrets.',
    options: configOptions,
    load: async () => (await import('./config-commands.ts')).printConfiguration,
  },
  {
    name: 'config schema',
    summary: 'Prints the JSON Schema of the configuration, for editors.',
    options: [],
    load: async () => (await import('./config-commands.ts')).printConfigurationSchema,
  },
  {
    name: 'agent add',
    operands: '<url | host:port | command… | -- command with flags…>',
    operandCount: [1, Infinity],
    takesCommand: true,
    summary: 'Detects an agent and adds it to the configuration.',
    details: [
      'A running hub uses it at once. Exits with 1 if it is not written, or if the hub cannot use it.',
      'Flags may be anywhere. Put a command with its own flags after --: parley agent add -- npx -y my-agent',
    ],
    options: [
      { name: 'name', takes: '<name>', summary: 'Default: the name that the agent reports.' },
      {
        name: 'kind',
        takes: '<kind>',
        summary: 'Skips detection: the target is the URL, host:port or command of this kind.',
      },
      {
        name: 'token-env',
        takes: '<NAME>',
        summary:
          'The environment variable of its token. The file stores the name, not the token. If the running hub does not have the variable, it keeps the token as a secret.',
      },
      ...configEditOptions,
    ],
    load: async () => (await import('./agent/agent-add.ts')).addAgent,
  },
  {
    name: 'agent list',
    summary: 'Lists the agents with their state.',
    details: ['If no hub runs, lists the agents of the configuration.', adminKeyNote],
    options: hubOptions,
    load: async () => (await import('./agent/agent-commands.ts')).listAgents,
  },
  {
    name: 'agent remove',
    operands: '<name>',
    operandCount: [1, 1],
    operandHint: '`parley agent list` shows the names.',
    summary: 'Removes an agent from the configuration. Its tasks are kept.',
    details: [
      'A running hub applies the change at once; running turns finish. Exits with 1 if it is not written, or if the hub does not apply it.',
    ],
    options: [
      {
        name: 'secrets',
        summary: 'Also removes the secrets that the hub keeps and that only this agent used.',
      },
      ...configEditOptions,
    ],
    load: async () => (await import('./agent/agent-commands.ts')).removeAgent,
  },
  {
    name: 'key create',
    summary: 'Creates an API key and shows it once.',
    details: [adminKeyNote],
    options: [
      {
        name: 'agent',
        takes: '<name>',
        repeatable: true,
        summary: 'An agent that it may call; repeatable. Required, unless --scope or --replaces is set.',
      },
      {
        name: 'scope',
        takes: '<scope>',
        repeatable: true,
        summary: 'agent:<name>, agent:*, skill:<agent>/<skill>, operation:<name>; repeatable.',
      },
      { name: 'name', takes: '<text>', summary: 'Its purpose. Default: its agents and scopes.' },
      {
        name: 'expires',
        takes: '<duration>',
        summary: 'For example 30d. Default: never, or as the key that it replaces.',
      },
      { name: 'rate', takes: '<rate>', summary: 'For example 60/min.' },
      { name: 'tasks-per-day', takes: '<n>', summary: 'The maximum number of new tasks per day.' },
      { name: 'principal', takes: '<text>', summary: 'The owner of its tasks. Default: the key itself.' },
      { name: 'replaces', takes: '<id>', summary: 'Copies this key; the new key continues its tasks.' },
      ...hubOptions,
    ],
    load: async () => (await import('./credentials/credential-commands.ts')).createKey,
  },
  {
    name: 'key list',
    summary: 'Lists the API keys with their purpose and last use.',
    details: [adminKeyNote],
    options: hubOptions,
    load: async () => (await import('./credentials/credential-commands.ts')).listKeys,
  },
  {
    name: 'key revoke',
    operands: '<id>',
    operandCount: [1, 1],
    operandHint: '`parley key list` shows the ids.',
    summary: 'Revokes an API key immediately.',
    details: [adminKeyNote],
    options: hubOptions,
    load: async () => (await import('./credentials/credential-commands.ts')).revokeKey,
  },
  {
    name: 'key rotate',
    operands: '<admin|signing|master>',
    operandCount: [1, 1],
    operandValues: ['admin', 'signing', 'master'],
    summary: 'Rotates the admin key, the signing keys or the master key of a running hub.',
    details: [
      'admin      Creates another admin key and shows it once. If no hub runs, in its store: for a key that you lost.',
      'signing    Creates new keys for cards, webhooks, delegation, page tokens, sessions and secrets at rest.',
      'master     Wraps the keys of the store by another master key.',
      adminKeyNote,
    ],
    options: [
      {
        name: 'overlap',
        takes: '<duration>',
        summary: 'How long the previous admin key is valid. off: it ends at once. Default 24h.',
      },
      ...hubOptions,
    ],
    load: async () => (await import('./credentials/credential-commands.ts')).rotateKey,
  },
  {
    name: 'secret set',
    operands: '<name>',
    // A second one is refused by the command, which says where the value belongs.
    operandCount: [1, 2],
    summary: 'Sets a secret that the hub keeps for ${hub:<name>}; the agents that use it are opened again.',
    details: ['The value is read from stdin, or typed at a terminal, which does not show it.', adminKeyNote],
    options: hubOptions,
    load: async () => (await import('./credentials/secret-commands.ts')).setSecret,
  },
  {
    name: 'secret list',
    summary: 'Lists the secrets that the hub keeps, without their values.',
    details: [adminKeyNote],
    options: hubOptions,
    load: async () => (await import('./credentials/secret-commands.ts')).listSecrets,
  },
  {
    name: 'secret remove',
    operands: '<name>',
    operandCount: [1, 1],
    operandHint: '`parley secret list` shows the names.',
    summary: 'Removes a secret that no agent uses.',
    details: [adminKeyNote],
    options: hubOptions,
    load: async () => (await import('./credentials/secret-commands.ts')).removeSecret,
  },
  {
    name: 'session list',
    summary: 'Lists the sessions of the console.',
    details: [adminKeyNote],
    options: hubOptions,
    load: async () => (await import('./credentials/credential-commands.ts')).listSessions,
  },
  {
    name: 'session end',
    operands: '<id>',
    operandCount: [1, 1],
    operandHint: '`parley session list` shows the ids.',
    summary: 'Ends a session of the console immediately.',
    details: [adminKeyNote],
    options: hubOptions,
    load: async () => (await import('./credentials/credential-commands.ts')).endSession,
  },
  {
    name: 'prune',
    summary: 'Removes data that is older than `retention` allows, or shows what would go.',
    details: ['A running hub also removes it by itself, a few seconds later.', ownStoreNote, adminKeyNote],
    options: [{ name: 'dry-run', summary: 'Counts what would go, and changes nothing.' }, ...hubOptions],
    load: async () => (await import('./store/run-prune.ts')).runPrune,
  },
  {
    name: 'erase',
    summary: 'Erases all data of a caller and prints a receipt.',
    details: [
      'Exits with 1 if the data is erased but the store was not compacted: repeat the command.',
      ownStoreNote,
      adminKeyNote,
    ],
    options: [
      {
        name: 'caller',
        takes: '<id>',
        summary: 'The principal: key:<id>, <issuer>|<subject>, or the principal of its keys. Required.',
      },
      { name: 'dry-run', summary: 'Counts what would go, and changes nothing.' },
      { name: 'yes', short: 'y', summary: 'Does not ask for confirmation. Required without a terminal.' },
      {
        name: 'no-compact',
        summary: 'Does not rewrite the store at the end: a running SQLite hub answers nothing meanwhile.',
      },
      ...hubOptions,
    ],
    load: async () => (await import('./store/run-erase.ts')).runErase,
  },
  {
    name: 'audit export',
    summary: 'Prints the audit as JSON lines, oldest first, and where to continue.',
    details: [
      adminKeyNote,
      'Entries are JSON lines in either format. The cursor is printed on stderr.',
      'An entry may come twice, with the same id; none is left out.',
    ],
    options: [
      {
        name: 'since',
        takes: '<time>',
        summary: 'A time such as 2026-01-31T12:00:00Z, or an age such as 24h. Default: everything.',
      },
      {
        name: 'after',
        takes: '<cursor>',
        summary: 'Continues after this cursor, which an earlier export printed.',
      },
      {
        name: 'cursor-file',
        takes: '<file>',
        summary: 'Continues after the cursor in this file, and stores the new one there.',
      },
      follow('entries'),
      ...hubOptions,
    ],
    load: async () => (await import('./audit-command.ts')).exportAudit,
  },
  {
    name: 'mcp',
    summary: 'Serves the agents of a hub, and others, as MCP tools over stdio.',
    options: [
      {
        name: 'hub',
        takes: '<url>',
        summary: 'The hub whose agents are served. Default: PARLEY_URL, or the configuration.',
      },
      { name: 'key', takes: '<key>', summary: 'An API key of that hub. Default: PARLEY_KEY.' },
      {
        name: 'agent',
        takes: '<url>',
        repeatable: true,
        summary: 'An agent by its URL; repeatable. Without --hub, no hub is used then.',
      },
      {
        name: 'token-env',
        takes: '<NAME>',
        summary: 'The environment variable of the token for those agents.',
      },
      {
        name: 'tools',
        takes: 'agents|skills',
        values: ['agents', 'skills'],
        summary: 'skills: adds one tool for each skill of each agent.',
      },
      {
        name: 'wait',
        takes: '<seconds>',
        summary: 'How long a call waits for an agent before it returns a running task. Default 50.',
      },
      {
        name: 'allow',
        takes: '<host>',
        repeatable: true,
        summary: 'A private host or range that agent URLs in calls may resolve to.',
      },
      { name: 'no-remote', summary: 'Disallows agent URLs in calls.' },
      config,
      ...overrideOptions,
      runSecrets,
    ],
    load: async () => (await import('./mcp-command.ts')).serveMcp,
  },
  {
    name: 'completion',
    operands: '<bash | zsh | fish>',
    operandCount: [1, 1],
    operandValues: shells,
    summary: 'Prints a completion script for a shell.',
    details: [
      'bash: parley completion bash >> ~/.bashrc',
      'zsh:  parley completion zsh > "${fpath[1]}/_parley"',
      'fish: parley completion fish > ~/.config/fish/completions/parley.fish',
    ],
    options: [],
    load: async () => printCompletion,
  },
]

/** In help and completion, beside the commands: run.ts prints help, and main.ts runs `a2a` without the commands of the hub. */
export const otherCommands: readonly Pick<Command, 'name' | 'operands' | 'summary' | 'options'>[] = [
  {
    name: 'a2a',
    operands: '<command>',
    summary: 'Calls and checks A2A agents. `parley a2a --help` lists its commands.',
    options: [],
  },
  { name: 'help', operands: '[command]', summary: 'Shows the help of a command.', options: [] },
]

export const program: ProgramSpec<Command> = {
  program: 'parley',
  commands,
  globalOptions: [
    { name: 'help', short: 'h', summary: 'Shows the help of a command.' },
    { name: 'version', short: 'v', summary: 'Shows the version.' },
  ],
  usageError,
}

const printCompletion: RunCommand = async (flags, terminal) => {
  const [typed = ''] = flags.positionals
  const shell = shells.find((one) => one === typed)
  if (shell === undefined) throw usageError(`Unknown shell "${typed}".`, `The shells are ${shells.join(', ')}.`)
  terminal.printData(completionScript(shell, { ...program, commands: [...commands, ...otherCommands] }))
  return 0
}
