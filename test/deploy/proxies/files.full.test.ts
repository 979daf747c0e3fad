/** The files of deploy/ fit the page that quotes them and the hub that they are written for. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defaultServerLimits, keepAliveMs } from '../project-imports.ts'
import { fileOnPage, page } from './proxied-hub.ts'
import { readDeployFile, substituteText } from './substitute.ts'

/** `15m`, `60s`, `2d` in milliseconds. */
function durationMs(text: string | undefined): number {
  const [, count, unit] = /^(\d+)(s|m|h|d)$/.exec(text ?? '') ?? []
  assert.ok(count !== undefined, `${text} is no duration`)
  return Number(count) * { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit as 's' | 'm' | 'h' | 'd']
}

const settingOf = (file: string, name: string): string | undefined =>
  new RegExp(`^\\s*${name} (\\S+?);?$`, 'm').exec(readDeployFile(file))?.[1]

describe('the configurations of proxies', () => {
  for (const file of [
    'nginx/parley.conf',
    'nginx/parley-upstream.conf',
    'nginx/parley-upstream-replicas.conf',
    'Caddyfile',
  ]) {
    it(`are quoted by the page as they are: ${file}`, () => {
      assert.equal(fileOnPage(`deploy/${file}`), readDeployFile(file), `${page} differs from deploy/${file}`)
    })
  }

  it('outlast the silence of a stream and of a call that waits', () => {
    for (const name of ['proxy_read_timeout', 'grpc_read_timeout']) {
      const ms = durationMs(settingOf('nginx/parley.conf', name))
      assert.ok(ms > keepAliveMs * 2, `${name} ends streams between two keep-alives`)
      assert.ok(ms > defaultServerLimits.waitMs, `${name} ends calls that wait`)
    }
    // Caddy has no limit unless one of these is set.
    assert.doesNotMatch(readDeployFile('Caddyfile'), /(response_header|read|write)_timeout|read_body|^\s*write /m)
  })

  it('let a body pass that the hub refuses', () => {
    const [, megabytes] = /^(\d+)m$/.exec(settingOf('nginx/parley.conf', 'client_max_body_size') ?? '') ?? []
    assert.ok(Number(megabytes) * 1_048_576 > defaultServerLimits.bodyBytes * 1.5)
    assert.doesNotMatch(readDeployFile('Caddyfile'), /request_body/)
  })

  it('are tested with other addresses and certificates, and with no other change', () => {
    const text = 'listen 443 ssl;\nproxy_buffering off;\n'
    assert.equal(substituteText(text, [['listen 443', 'listen 8443']]), 'listen 8443 ssl;\nproxy_buffering off;\n')
    assert.throws(() => substituteText(text, [['proxy_buffering off', 'proxy_buffering on']]), /must not replace/)
    assert.throws(() => substituteText(text, [['listen 80', 'listen 8080']]), /does not have/)
  })
})
