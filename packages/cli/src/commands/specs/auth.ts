/** The commands of `a2a auth`. */
import type { Command } from '../../command.ts'

export const authLogin: Command = {
  name: 'auth login',
  summary: 'Obtains a token from the authorization server of the agent, and keeps it for later commands.',
  details: [
    'Uses the device code flow, or client credentials if --client-secret is set. The token is stored in a file that only you can read, and is sent only to the agent whose card it was obtained for.',
  ],
  options: [
    { name: 'client-id', takes: '<id>', fromEnvironment: true, summary: 'The client id at the authorization server.' },
    {
      name: 'client-secret',
      takes: '<secret>',
      fromEnvironment: true,
      isSecret: true,
      summary: 'The client secret. Prefer the variable: other users may see the command line.',
    },
    { name: 'scope', takes: '<scope>', repeatable: true, fromEnvironment: true, summary: 'A scope to ask for.' },
    {
      name: 'flow',
      takes: '<flow>',
      values: ['device-code', 'client-credentials'],
      default: 'what the card offers',
      summary: 'Which OAuth flow to use.',
    },
    { name: 'scheme', takes: '<name>', summary: 'The security scheme of the card, if it has several.' },
  ],
  examples: ['a2a auth login -a https://agent.example.com --client-id my-cli'],
  operandCount: [0, 0],
  load: () => import('../auth-login.ts'),
}

export const authStatus: Command = {
  name: 'auth status',
  summary: 'Shows the stored tokens: for which agent, from which issuer, and until when they are valid.',
  options: [],
  examples: ['a2a auth status', 'a2a auth status -a https://agent.example.com -o json'],
  operandCount: [0, 0],
  load: () => import('../auth-status.ts'),
}

export const authLogout: Command = {
  name: 'auth logout',
  summary: 'Deletes the stored tokens of an agent.',
  options: [{ name: 'all', summary: 'Deletes the tokens of all agents.' }],
  examples: ['a2a auth logout -a https://agent.example.com', 'a2a auth logout --all'],
  operandCount: [0, 0],
  load: () => import('../auth-logout.ts'),
}
