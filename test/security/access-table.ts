/** Which credentials give access to which endpoints. docs/explanation/security.md has this table, and a test compares the two. */
import type { CredentialName } from './credentials.ts'
import { credentialNames } from './credentials.ts'
import type { Guard } from './endpoints.ts'
import { guards } from './endpoints.ts'

const anonymous: readonly CredentialName[] = ['nothing', 'a password']
const usingTheAgent: readonly CredentialName[] = [
  'a key for the agent',
  'a key for every agent',
  'a token for the agent',
  'a token for every agent',
  // The console's playground calls agents for the operator.
  'a session',
]
/** Authenticated, whatever its permissions. */
const identified: readonly CredentialName[] = [
  'a key for another agent',
  'a key for the agent',
  'a key for the agent, read only',
  'a key for every agent',
  'a token without a role',
  'a token for the agent',
  'a token for every agent',
  'a token of an admin',
  'a session',
]
const operating: readonly CredentialName[] = ['the admin key', 'a token of an admin', 'a session']
const ownKeys: readonly CredentialName[] = [
  'a token for the agent',
  'a token for every agent',
  'the admin key',
  'a session',
]
const withoutCsrf: CredentialName = 'a session without its CSRF token'

export const allowedCredentials: Readonly<Record<Guard, readonly CredentialName[]>> = {
  public: credentialNames,
  'agent card': credentialNames,
  // Wrong credentials are refused. Without credentials, only open agents are listed: here none.
  'list of agents': [...anonymous, ...identified, withoutCsrf],
  'agent: send, cancel, push': usingTheAgent,
  'agent: read': [...usingTheAgent, 'a key for the agent, read only'],
  // Its tools are the agents that the caller may use.
  MCP: identified,
  'own keys of an agent: read': [...ownKeys, withoutCsrf],
  'own keys of an agent: change': ownKeys,
  metrics: ['the admin key'],
  'admin: read': [...operating, withoutCsrf],
  'admin: change': operating,
  'sign in': ['the admin key', 'a token of an admin'],
}

export const isAllowed = (guard: Guard, name: CredentialName): boolean => allowedCredentials[guard].includes(name)

/** As it stands in docs/explanation/security.md. */
export function asMarkdown(): string {
  const rows = guards.map((guard) => {
    const names = credentialNames.filter((name) => isAllowed(guard, name))
    return `| ${guard} | ${names.length === credentialNames.length ? 'all' : names.join('; ')} |`
  })
  return ['| request | accepted credentials |', '|---|---|', ...rows].join('\n')
}
