/** The files of `--client-cert`, `--client-key` and `--ca-cert`, checked before the first connection. */
import { X509Certificate, createPrivateKey } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { getCACertificates } from 'node:tls'
import type { Settings } from '../args/settings.ts'
import { usageError } from '../output/cli-error.ts'
import { fileErrorText } from '../output/file-error.ts'

/** TLS of the connections to the agent, in PEM. */
export interface TlsFiles {
  /** All authorities to trust: those of the file, and those of Node. */
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** `undefined` if no option names a file. Throws a usage error for a file that cannot be read or that holds something else. */
export async function readTlsFiles(settings: Settings, cwd: string): Promise<TlsFiles | undefined> {
  const [cert, key, ca] = await Promise.all([
    readPem(settings, 'client-cert', cwd),
    readPem(settings, 'client-key', cwd),
    readPem(settings, 'ca-cert', cwd),
  ])
  if (cert === undefined && key === undefined && ca === undefined) return undefined
  if (key !== undefined && cert === undefined) throw usageError('--client-key needs --client-cert.')
  // One file often holds both.
  const privateKey = key ?? cert
  if (cert !== undefined && privateKey !== undefined) checkPair(cert, privateKey)
  if (ca !== undefined) checkCertificate(ca, '--ca-cert')
  return {
    ...(ca !== undefined ? { ca: [ca, ...getCACertificates('default')].join('\n') } : {}),
    ...(cert !== undefined && privateKey !== undefined ? { cert, key: privateKey } : {}),
  }
}

async function readPem(settings: Settings, name: string, cwd: string): Promise<string | undefined> {
  const path = settings.value(name)
  if (path === undefined) return undefined
  try {
    return await readFile(resolve(cwd, path), 'utf8')
  } catch (cause) {
    throw usageError(`--${name} ${path}: ${fileErrorText(cause)}.`)
  }
}

function checkPair(cert: string, key: string): void {
  const certificate = checkCertificate(cert, '--client-cert')
  let matches: boolean
  try {
    matches = certificate.checkPrivateKey(createPrivateKey(key))
  } catch {
    throw usageError('--client-key: not an unencrypted private key in PEM.')
  }
  if (!matches) throw usageError('--client-key is not the key of --client-cert.')
}

function checkCertificate(pem: string, option: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch {
    throw usageError(`${option}: not a certificate in PEM.`)
  }
}
