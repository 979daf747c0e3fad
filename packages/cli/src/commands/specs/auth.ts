/** The commands of `a2a auth`. */
import type { Command } from '../../command.ts'

const authLogin: Command = {
  name: 'auth login',
  summary: 'Obtains a token from the authorization server of the agent, and keeps it for later commands.',
  details: [
    'Uses the device code flow, or client credentials if --client-secret is set, at the server that the card names: by its OAuth flows, its metadata, or OpenID Connect discovery.',
    'The token is stored in a file that only you can read, and is sent only to the agent whose card it was obtained for.',
  ],
  options: [
    { name: 'scope', takes: '<scope>', repeatable: true, fromEnvironment: true, summary: 'A scope to ask for.' },
    {
      name: 'flow',
      takes: '<flow>',
      values: ['device-code', 'client-credentials'],
      default: 'what the card offers',
      summary: 'Which OAuth flow to use.',
    },
    { name: 'scheme', takes: '<name>', summary: 'The security scheme of the card, if it has several.' },
    {
      name: 'trust',
      takes: '<origin>',
      repeatable: true,
      summary:
        'An authorization server that the card may name. Needed for a client secret, unless it is on the host of the card.',
    },
    { name: 'token-url', takes: '<url>', summary: 'The token endpoint, instead of the one that the card names.' },
    {
      name: 'device-authorization-url',
      takes: '<url>',
      summary: 'The device authorization endpoint, with --token-url.',
    },
    {
      name: 'metadata-url',
      takes: '<url>',
      summary:
        'The metadata of the authorization server, or its OpenID configuration, instead of the one that the card names.',
    },
    { name: 'audience', takes: '<audience>', summary: 'The audience of the token, for servers that need it.' },
    { name: 'resource', takes: '<uri>', summary: 'The resource that the token is for (RFC 8707).' },
  ],
  globalOptions: ['agent-card', 'client-id', 'client-secret', 'output', 'timeout', 'insecure'],
  examples: [
    'a2a auth login -a https://agent.example.com --client-id my-cli',
    'A2ACLI_CLIENT_SECRET=… a2a auth login -a https://agent.example.com --client-id my-job --trust https://id.example.com',
  ],
  load: () => import('../auth-login.ts'),
}

const authStatus: Command = {
  name: 'auth status',
  summary: 'Shows the stored tokens: for which agent, from which issuer, and until when they are valid.',
  options: [],
  globalOptions: ['agent-card', 'output'],
  examples: ['a2a auth status', 'a2a auth status -a https://agent.example.com -o json'],
  load: () => import('../auth-status.ts'),
}

const authLogout: Command = {
  name: 'auth logout',
  summary: 'Deletes the stored tokens of an agent.',
  options: [{ name: 'all', summary: 'Deletes the tokens of all agents.' }],
  globalOptions: ['agent-card', 'output'],
  examples: ['a2a auth logout -a https://agent.example.com', 'a2a auth logout --all'],
  load: () => import('../auth-logout.ts'),
}

export const authCommands: readonly Command[] = [authLogin, authStatus, authLogout]
