/**
 * Client certificates (mTLS). The listener, which knows the authority, verifies a certificate; this module only maps it to a
 * caller. Behind a proxy that terminates TLS there is no certificate: if you trust the proxy's headers, read them with an
 * `authenticate` function of your own.
 */
import type { ClientCertificate } from '../../bindings/http.ts'
import type { Caller } from '../../model/caller.ts'
import { A2AError } from '../../model/error.ts'
import type { Authenticate } from '../options.ts'
import { createScheme } from './scheme.ts'

/** Options of `mtls`. */
export interface MtlsOptions {
  /** Returns the caller of a certificate; `undefined` refuses it. Default: its subject, as its issuer names it. */
  readonly caller?: (certificate: ClientCertificate) => Caller | undefined | null | Promise<Caller | undefined | null>
  /** Scopes that every caller must have. Default: none. */
  readonly scopes?: readonly string[]
  /** The name of the scheme in the card. Default `mtls`. */
  readonly scheme?: string
}

/**
 * Authenticates callers by client certificate. The listener must request and verify certificates: set `tls.ca` of
 * `serve`, and `grpcTls.clientCa` for gRPC.
 */
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
      throw new A2AError('UNAUTHENTICATED', 'The client certificate is not authorized')
    },
  })
}

/** Not by its fingerprint: a renewed certificate keeps its owner. */
function bySubject({ subject, issuer }: ClientCertificate): Caller | undefined {
  const named = nameOf(subject)
  return named === '' ? undefined : { id: `${nameOf(issuer)}|${named}` }
}

type DistinguishedName = ClientCertificate['subject']

/** `CN=billing,O=Example`. Separators are escaped, so that two names never become one. */
function nameOf(name: DistinguishedName): string {
  const escaped = (value: string): string => value.replaceAll(/[\\,=|+]/g, (character) => `\\${character}`)
  return Object.entries(name)
    .flatMap(([key, value]) => [value ?? []].flat().map((one) => `${key}=${escaped(one)}`))
    .join(',')
}
