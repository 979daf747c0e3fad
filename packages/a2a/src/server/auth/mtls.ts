/**
 * Certificates that clients show (mTLS). That one is good is for the listener to say, which knows the authority; here is
 * only said whose it is. Behind a proxy that ends TLS there is none to see: then trust what the proxy says, if you do,
 * with a function of your own.
 */
import type { ClientCertificate } from '../../bindings/http.ts'
import type { Caller } from '../../model/caller.ts'
import { A2AError } from '../../model/error.ts'
import type { Authenticate } from '../options.ts'
import { createScheme } from './scheme.ts'

export interface MtlsOptions {
  /** Whose certificate it is; nothing refuses it. Default: its subject, as its issuer names it. */
  readonly caller?: (certificate: ClientCertificate) => Caller | undefined | null | Promise<Caller | undefined | null>
  readonly scopes?: readonly string[]
  /** By which the card names the scheme. Default `mtls`. */
  readonly scheme?: string
}

export function mtls({ caller = bySubject, scopes, scheme }: MtlsOptions = {}): Authenticate {
  return createScheme({
    name: scheme ?? 'mtls',
    scheme: { mtlsSecurityScheme: { description: 'A client certificate of an authority that this server trusts' } },
    scopes,
    challenge: 'Certificate',
    async check({ clientCertificate }) {
      if (clientCertificate === undefined) return undefined
      const found = await caller(clientCertificate)
      if (found !== undefined && found !== null) return found
      throw new A2AError('UNAUTHENTICATED', 'The certificate is nobody’s who may call')
    },
  })
}

/** Not by its fingerprint: a certificate that is renewed is still of the same owner. */
function bySubject({ subject, issuer }: ClientCertificate): Caller | undefined {
  const named = nameOf(subject)
  return named === '' ? undefined : { id: `${nameOf(issuer)}|${named}` }
}

type DistinguishedName = ClientCertificate['subject']

/** `CN=billing,O=Example`. What separates is escaped, so that no two names become one. */
function nameOf(name: DistinguishedName): string {
  const escaped = (value: string): string => value.replaceAll(/[\\,=|+]/g, (character) => `\\${character}`)
  return Object.entries(name)
    .flatMap(([key, value]) => [value ?? []].flat().map((one) => `${key}=${escaped(one)}`))
    .join(',')
}
