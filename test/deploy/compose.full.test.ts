/** deploy/compose.yaml is valid and safe. test/deploy/image.full.test.ts runs the hub with its configuration and its secrets. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import { composeProblems } from './validate-manifest.ts'

const readRoot = (path: string): string => readFileSync(join(import.meta.dirname, '../..', path), 'utf8')
const text = readRoot('deploy/compose.yaml')

interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
  readonly volumes: Readonly<Record<string, unknown>>
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>
}

interface ComposeService {
  readonly ports?: readonly string[]
  readonly secrets?: readonly string[]
  readonly networks?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly [key: string]: unknown
}

const compose = parse(text) as ComposeFile
const services = Object.entries(compose.services)

describe('deploy/compose.yaml', () => {
  it('is valid by the schema of the Compose Specification', () => {
    assert.deepEqual(composeProblems(compose), [])
  })

  it('is checked by a schema that finds a misspelled field', () => {
    const { hub = {} } = compose.services
    const wrong = { ...compose, services: { hub: { ...hub, read_onyl: true } } }
    assert.match(composeProblems(wrong).join('\n'), /read_onyl/)
  })

  it('has the hub and PostgreSQL, each with a read-only root, no capabilities and a health check', () => {
    assert.deepEqual(services.map(([name]) => name).sort(), ['hub', 'postgres'])
    for (const [name, service] of services) {
      assert.equal(service['read_only'], true, name)
      assert.deepEqual(service['cap_drop'], ['ALL'], name)
      assert.deepEqual(service['security_opt'], ['no-new-privileges:true'], name)
      assert.ok(service['healthcheck'] !== undefined && service['restart'] === 'unless-stopped', name)
    }
  })

  it('publishes the hub on loopback, and PostgreSQL nowhere', () => {
    const { hub, postgres } = compose.services
    assert.ok(hub?.ports?.every((port) => port.startsWith('127.0.0.1:')))
    assert.equal(postgres?.ports, undefined)
    assert.deepEqual(postgres?.networks, ['database'])
    assert.equal(compose.networks['database']?.internal, true)
  })

  it('has no secret in an environment variable or in itself: only files, each used, which git ignores', () => {
    const used = services.flatMap(([, { secrets = [] }]) => secrets)
    assert.deepEqual(used.sort(), Object.keys(compose.secrets).sort())
    for (const [name, { file }] of Object.entries(compose.secrets)) assert.equal(file, `./secrets/${name}`)
    for (const [, { environment = {} }] of services)
      for (const [name] of Object.entries(environment)) assert.doesNotMatch(name, /(PASSWORD|KEY|SECRET|TOKEN)$/)
    assert.match(readRoot('.gitignore'), /^deploy\/secrets\/$/m)
  })

  it('builds from a context without secrets, data and the history of the repository', () => {
    const ignored = readRoot('.dockerignore').split('\n')
    for (const path of ['.git', '**/node_modules', '**/.parley', 'deploy/secrets', 'ha-data'])
      assert.ok(ignored.includes(path), path)
    // The default folder of `npm run ha`, with its keys.
    assert.match(readRoot('.gitignore'), /^ha-data\/$/m)
  })
})
