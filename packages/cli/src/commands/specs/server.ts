/** `server`. */
import type { Command } from '../../command.ts'

const server: Command = {
  name: 'server',
  aliases: ['demo-server', 'serve'],
  summary: 'Serves an agent on this machine: an echo, a proxy of another agent, or a program.',
  details: [
    'Exactly one of --echo, --proxy and --exec is required. Ctrl-C stops the server. It keeps its tasks in memory.',
    '--proxy forwards every operation with your credentials and service parameters, and translates bindings and versions.',
    '--exec passes the text parts of the message to stdin, one per line, and the ids as A2A_TASK_ID and A2A_CONTEXT_ID. Exit code 0 completes the task with stdout as its artifact; any other fails it with stderr. Canceling the task ends the program and everything it started.',
  ],
  options: [
    { name: 'echo', summary: 'Answers with the parts of the message.' },
    {
      name: 'proxy',
      takes: '[url]',
      summary: 'Forwards every operation to another agent: this one, or that of --agent-card or --endpoint.',
    },
    {
      name: 'exec',
      takes: '<command>',
      summary: 'Runs a shell command for each message: its text is stdin, stdout is the artifact.',
    },
    {
      name: 'chunk',
      takes: '<delimiter>',
      summary: 'With --exec: streams the output in pieces that end with this text, such as \\n.',
    },
    { name: 'exec-timeout', takes: '<duration>', default: '5m', summary: 'With --exec: ends the program after it.' },
    {
      name: 'max-running',
      takes: '<n>',
      default: '16',
      summary: 'With --exec: how many programs run at the same time.',
    },
    { name: 'port', takes: '<port>', default: '8080', summary: 'The port to listen on; 0 takes a free one.' },
    { name: 'host', takes: '<address>', default: '127.0.0.1', summary: 'The address to listen on.' },
    {
      name: 'serve-transport',
      takes: '<binding>',
      repeatable: true,
      values: ['rest', 'jsonrpc', 'grpc'],
      alsoAccepts: /^(jsonrpc|rest|http\+json|grpc)$/i,
      default: 'rest and jsonrpc',
      summary: 'The bindings on the card. gRPC has a port of its own: see --grpc-port.',
    },
    { name: 'grpc-port', takes: '<port>', default: '0', summary: 'The port of gRPC; 0 takes a free one.' },
    { name: 'advertise-address', takes: '<url>', summary: 'The origin of the URLs on the card.' },
    { name: 'name', takes: '<name>', summary: 'The name on the card.' },
    { name: 'description', takes: '<text>', summary: 'The description on the card.' },
    { name: 'card', takes: '<file>', summary: 'Takes the card from this file; its interfaces are replaced.' },
    { name: 'card-compat', summary: 'Adds the fields of 0.3 to the card.' },
    {
      name: 'protocol',
      takes: '<version>',
      values: ['latest', '0.3'],
      default: 'latest',
      summary: 'The protocol version to serve.',
    },
    { name: 'quiet', summary: 'Does not log the calls on stderr.' },
  ],
  globalOptions: ['agent-card', 'transport', 'a2a-version', 'insecure'],
  examples: [
    'a2a server --echo',
    'a2a server --proxy https://agent.example.com --port 9000',
    'a2a server --exec "tr a-z A-Z"',
  ],
  load: () => import('../server.ts'),
}

export const serverCommands: readonly Command[] = [server]
