/** The options that every command accepts. `A2ACLI_<NAME>` and the configuration files set them too, unless the option excludes it. */
import type { OptionSpec } from './option.ts'

export const environmentPrefix = 'A2ACLI_'

const exposure =
  'Other users may see it in the process table, and the shell keeps it in its history: prefer the variable.'

export const globalOptions: readonly OptionSpec[] = [
  {
    name: 'agent-card',
    short: 'a',
    takes: '<ref>',
    summary: 'The agent: a host, an origin, the URL of its card, or a file with the card.',
  },
  {
    name: 'endpoint',
    short: 'e',
    takes: '<url>',
    summary: 'Calls this URL without a card. Needs exactly one --transport. Excludes --agent-card.',
  },
  {
    name: 'catalog',
    takes: '<url>',
    summary: 'A catalog of agents. The value of --agent-card is first looked up there by its name.',
  },
  {
    name: 'transport',
    takes: '<binding>',
    repeatable: true,
    values: ['jsonrpc', 'rest', 'grpc'],
    alsoAccepts: /^(jsonrpc|rest|http\+json|grpc)$/i,
    default: 'the order of the card',
    summary: 'Preferred bindings, best first. Bindings that the card does not offer are skipped.',
  },
  {
    name: 'a2a-version',
    takes: '<version>',
    default: 'the highest that both support, at least 1.0',
    summary: 'The protocol version, such as 1.0 or 0.3. Versions below 1.0 are used only if you name them.',
  },
  {
    name: 'tenant',
    takes: '<tenant>',
    default: 'as the card declares',
    summary: 'The tenant of an agent without one on its card.',
  },
  { name: 'extension', takes: '<uri>', repeatable: true, summary: 'Activates an extension of the agent.' },
  {
    name: 'output',
    short: 'o',
    takes: '<format>',
    values: ['text', 'json'],
    default: 'text',
    summary: 'The format of stdout: labels and values, or the objects of the protocol.',
  },
  {
    name: 'stream',
    fromEnvironment: false,
    default: 'off',
    summary: 'Prints every event as it comes. With -o json one compact object per line.',
  },
  {
    name: 'wait',
    aliases: ['watch'],
    default: 'on for send',
    summary: 'Waits until the task has ended, or needs input or a credential.',
  },
  {
    name: 'async',
    aliases: ['return-immediately', 'no-wait'],
    default: 'off',
    summary: 'Returns as soon as the agent has accepted the message.',
  },
  { name: 'poll-interval', takes: '<duration>', default: '2s', summary: 'The least time between two polls of a task.' },
  {
    name: 'timeout',
    takes: '<duration>',
    default: '30s',
    summary:
      'The limit for the whole command. By default each call may take 30s, and waiting has no limit. 0 means no limit at all.',
  },
  {
    name: 'max-answer',
    takes: '<size>',
    default: '100MB',
    summary:
      'The limit for one answer of the agent; a stream is one answer. By default a catalog may have 16MB and a card 1MB. 0 means no limit.',
  },
  {
    name: 'context-id',
    takes: '<id>',
    environmentCommands: ['send'],
    summary: 'The context that the message belongs to, or whose tasks to list.',
  },
  { name: 'task-id', takes: '<id>', environmentCommands: ['send'], summary: 'The task that the message continues.' },
  { name: 'bearer', takes: '<token>', isSecret: true, summary: `The token for bearer authentication. ${exposure}` },
  {
    name: 'api-key',
    takes: '<key>',
    isSecret: true,
    summary: `The API key, sent where the card requires it. ${exposure}`,
  },
  {
    name: 'client-id',
    takes: '<id>',
    summary: 'The OAuth client id for `auth login`.',
  },
  {
    name: 'client-secret',
    takes: '<secret>',
    isSecret: true,
    summary: `The OAuth client secret, to log in and to renew the token of a login. It is not stored. ${exposure}`,
  },
  {
    name: 'client-cert',
    takes: '<file>',
    summary: 'The certificate for mutual TLS, in PEM format. Needs --client-key.',
  },
  { name: 'client-key', takes: '<file>', summary: 'The private key of --client-cert, in PEM format.' },
  { name: 'ca-cert', takes: '<file>', summary: 'Certificates of authorities to trust besides those of the system.' },
  {
    name: 'insecure',
    default: 'off',
    summary: 'Does not verify TLS certificates, and permits plain-text gRPC. Always prints a warning.',
  },
  {
    name: 'verify',
    takes: '<policy>',
    values: ['off', 'warn', 'require'],
    default: 'off',
    summary: 'Whether the signature of the card must be valid before the agent is called.',
  },
  {
    name: 'trusted-keys',
    takes: '<file>',
    summary: 'The keys that --verify and `card get` accept, as a JSON Web Key Set.',
  },
  {
    name: 'svc-param',
    takes: '<name:value>',
    repeatable: true,
    isSecret: true,
    summary: 'A service parameter: sent as an HTTP header or as gRPC metadata with every request.',
  },
  { name: 'metadata', takes: '<json>', summary: 'Metadata of the request: a JSON object.' },
  {
    name: 'config',
    takes: '<file>',
    summary: 'Reads settings from this file instead of the nearest .env file.',
  },
  {
    name: 'trust-project',
    default: 'off',
    summary: 'Sends your credentials to the agent that the .env file of a project names.',
  },
  {
    name: 'verbose',
    short: 'v',
    default: 'off',
    summary: 'Also prints the details of what was exchanged: parts, ids, times.',
  },
  {
    name: 'debug',
    default: 'off',
    summary: 'Prints on stderr how it was exchanged: requests, retries, negotiation. Secrets are redacted.',
  },
  { name: 'help', short: 'h', fromEnvironment: false, summary: 'Shows the help of the command.' },
  { name: 'version', fromEnvironment: false, summary: 'Shows the version of the program.' },
]

const refusedInProject = ['insecure', 'ca-cert', 'svc-param', 'trust-project', 'verify', 'trusted-keys', 'max-answer']

/** Whether the `.env` of a project cannot set it: a cloned project must not weaken the checks of TLS and signatures, nor add to what is sent. */
export function isRefusedInProject(name: string): boolean {
  return refusedInProject.includes(name)
}

/** The variable that sets an option: `A2ACLI_POLL_INTERVAL`. */
export function variableOf({ name }: OptionSpec): string {
  return `${environmentPrefix}${name.toUpperCase().replaceAll('-', '_')}`
}

/** Whether the environment and the files may set it for this command. */
export function isFromEnvironment(option: OptionSpec, command: string): boolean {
  if (option.environmentCommands !== undefined && !option.environmentCommands.includes(command)) return false
  return option.fromEnvironment ?? globalOptions.includes(option)
}
