/** Every kind of credential of a request, valid and invalid, as headers. */
import { generateKeyPair, SignJWT } from 'jose'
import type { TokenIssuer, AuthHeaders, TestHub } from '../admin/test-hub.ts'
import { asAdmin } from '../admin/test-hub.ts'

export const credentialNames = [
  'nothing',
  'an unknown key',
  'a revoked key',
  'a password',
  'a token that is no token',
  'an expired token',
  'a token without a signature',
  'a token of an unknown key',
  'a token of another issuer',
  'a key for another agent',
  'a key for the agent',
  'a key for the agent, read only',
  'a key for every agent',
  'a token without a role',
  'a token for the agent',
  'a token for every agent',
  'a token of an admin',
  'the admin key',
  'a session',
  'a session without its CSRF token',
] as const
export type CredentialName = (typeof credentialNames)[number]

/** Created again if using one may end it. */
export type Credential = () => Promise<AuthHeaders>

export async function openCredentials(
  stage: TestHub,
  issuer: TokenIssuer,
): Promise<Record<CredentialName, Credential>> {
  const { ask, key } = stage
  const revoked = await ask('POST', '/admin/keys', { name: 'revoked', agents: ['private'] })
  await ask('DELETE', `/admin/keys/${revoked.json.id}`)
  const bearer = (token: string): AuthHeaders => ({ authorization: `Bearer ${token}` })
  const other = await generateKeyPair('ES256', { extractable: true })
  const claims = { iss: issuer.issuer, aud: 'parley', sub: 'eve', scope: 'operators all' }
  const forged = (kid: string, more: object = {}): Promise<string> =>
    new SignJWT({ ...claims, ...more })
      .setProtectedHeader({ alg: 'ES256', kid })
      .setExpirationTime('10m')
      .sign(other.privateKey)
  const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const unsigned = `${encoded({ alg: 'none' })}.${encoded({ ...claims, exp: 4_000_000_000 })}.`
  const always =
    (proof: AuthHeaders): Credential =>
    async () =>
      proof

  async function session(): Promise<{ readonly cookie: string; readonly csrf: string }> {
    const { headers, json } = await ask('POST', '/admin/session')
    return { cookie: (headers.getSetCookie()[0] ?? '').split(';')[0] ?? '', csrf: json.csrf }
  }

  return {
    nothing: always({}),
    'an unknown key': always(bearer(`${revoked.json.key.slice(0, -8)}AAAAAAAA`)),
    'a revoked key': always(bearer(revoked.json.key)),
    'a password': always({ authorization: `Basic ${Buffer.from('admin:admin').toString('base64')}` }),
    'a token that is no token': always(bearer('aaaa.bbbb.cccc')),
    'an expired token': always(await issuer.token({ scope: 'operators all', exp: 1_000 })),
    'a token without a signature': always(bearer(unsigned)),
    'a token of an unknown key': always(bearer(await forged('unknown'))),
    'a token of another issuer': always(bearer(await forged('k', { iss: 'https://elsewhere.example.com' }))),
    'a key for another agent': always(await key({ agents: ['other'] })),
    'a key for the agent': always(await key({ agents: ['private'] })),
    'a key for the agent, read only': always(await key({ scopes: ['agent:private', 'operation:read'] })),
    'a key for every agent': always(await key({ agents: ['*'] })),
    'a token without a role': always(await issuer.token({})),
    'a token for the agent': always(await issuer.token({ scope: 'members' })),
    'a token for every agent': always(await issuer.token({ scope: 'all' })),
    'a token of an admin': always(await issuer.token({ scope: 'operators' })),
    'the admin key': always(asAdmin),
    'a session': async () => {
      const { cookie, csrf } = await session()
      return { cookie, 'x-csrf-token': csrf }
    },
    'a session without its CSRF token': async () => ({ cookie: (await session()).cookie }),
  }
}
