/** A certificate made on the spot, so that TLS is tested with TLS and no key has to be kept anywhere. */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** For the name and for 127.0.0.1, good from yesterday until tomorrow. Both in PEM. */
export function selfSigned(name: string): { readonly key: string; readonly cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const day = 86_400_000
  const named = sequence(set(sequence(commonName, der(0x0c, Buffer.from(name)))))
  const names = sequence(der(0x82, Buffer.from(name)), der(0x87, Buffer.from([127, 0, 0, 1])))
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    // Positive, hence the first byte.
    der(0x02, Buffer.from([1]), randomBytes(8)),
    sequence(ecdsaWithSha256),
    named,
    sequence(utcTime(Date.now() - day), utcTime(Date.now() + day)),
    named,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(subjectAltName, der(0x04, names)))),
  )
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey))
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: pem(sequence(body, sequence(ecdsaWithSha256), signature)),
  }
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts)
const set = (...parts: readonly Buffer[]): Buffer => der(0x31, ...parts)
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'))
const ecdsaWithSha256 = oid('2a8648ce3d040302')
const commonName = oid('550403')
const subjectAltName = oid('551d11')

function utcTime(time: number): Buffer {
  return der(
    0x17,
    Buffer.from(
      `${new Date(time)
        .toISOString()
        .replace(/[-:T]|\..*/g, '')
        .slice(2)}Z`,
    ),
  )
}

function pem(content: Buffer): string {
  const lines = content.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
