/** `conformance`. */
import type { Command } from '../../command.ts'

const conformance: Command = {
  name: 'conformance',
  operands: '[url]',
  summary: 'Checks a live agent against the A2A specification.',
  details: [
    'Each result cites the section of the specification. Rules that cannot be decided from outside are listed as undecided. The agent is that of --agent-card, or the operand.',
  ],
  options: [
    { name: 'read-only', summary: 'Sends no messages and changes nothing.' },
    { name: 'max-messages', takes: '<n>', default: '500', summary: 'Sends at most this many messages.' },
    {
      name: 'receiver-url',
      takes: '<url>',
      summary: 'The URL by which the agent reaches the receiver of push notifications. Default: its address.',
    },
    {
      name: 'receiver-port',
      takes: '<port>',
      default: 'a free one',
      summary: 'The port on which the receiver of push notifications listens.',
    },
    {
      name: 'profile',
      takes: '<file>',
      summary:
        'Hints for a scripted agent: which messages lead to which states (JSON). tck: agents of the official kit. parley-demo: the agent rehearsal of a Parley hub.',
    },
    {
      name: 'fail-on',
      takes: '<level>',
      values: ['must', 'should', 'never'],
      default: 'must',
      summary: 'Which broken rules make the exit code 1.',
    },
    { name: 'only', takes: '<id>', repeatable: true, summary: 'Runs only these checks; card.* selects a group.' },
    { name: 'skip', takes: '<id>', repeatable: true, summary: 'Does not run these checks.' },
    {
      name: 'binding',
      takes: '<binding>',
      repeatable: true,
      values: ['jsonrpc', 'rest', 'grpc'],
      alsoAccepts: /^(jsonrpc|rest|http\+json|grpc)$/i,
      default: 'all of the card',
      summary: 'Checks only these bindings.',
    },
    {
      name: 'junit',
      takes: '<file>',
      summary: 'Also writes a JUnit XML report.',
    },
    { name: 'parallel', takes: '<n>', default: '1', summary: 'Checks this many interfaces at the same time.' },
    { name: 'check-timeout', takes: '<duration>', default: '30s', summary: 'How long one check may take.' },
    { name: 'list', summary: 'Lists the checks and runs none.' },
    { name: 'markdown', takes: '<file>', summary: 'Also writes a report in Markdown.' },
  ],
  globalOptions: ['agent-card', 'a2a-version', 'output', 'stream', 'timeout', 'insecure', 'verbose'],
  examples: [
    'a2a conformance http://localhost:3000',
    'a2a conformance http://localhost:3000/a2a/rehearsal --profile parley-demo',
    'a2a conformance https://agent.example.com --read-only -o json',
    'a2a conformance http://localhost:3000 --fail-on should --junit report.xml',
  ],
  operandCount: [0, 1],
  load: () => import('../conformance.ts'),
}

export const conformanceCommands: readonly Command[] = [conformance]
