import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { readAdvisories } from './audit-advisories.ts'
import { auditLockfile } from './audit-lockfile.ts'
import type { LockedPackage, Lockfile } from './audit-lockfile.ts'

const good: LockedPackage = { version: '1.0.0', license: 'MIT', integrity: `sha512-${'A'.repeat(86)}==` }
const problemsOf = (name: string, locked: LockedPackage): readonly string[] =>
  auditLockfile({ packages: { [`node_modules/${name}`]: locked } }).problems

describe('npm run audit', () => {
  it('finds no problem in the dependencies of this repository', () => {
    const lockfile = JSON.parse(readFileSync(join(import.meta.dirname, '../package-lock.json'), 'utf8')) as Lockfile
    const { packages, production, problems } = auditLockfile(lockfile)
    assert.deepEqual(problems, [])
    assert.ok(packages > 300 && production > 20, `${packages} ${production}`)
  })

  it('finds no problem in the dependencies of the documentation site', () => {
    const path = join(import.meta.dirname, '../site/package-lock.json')
    const { packages, problems } = auditLockfile(JSON.parse(readFileSync(path, 'utf8')) as Lockfile)
    assert.deepEqual(problems, [])
    assert.ok(packages > 50, String(packages))
  })

  it('reports contents without a hash, or with a weak one', () => {
    const { integrity: _integrity, ...unpinned } = good
    assert.deepEqual(problemsOf('a', good), [])
    assert.deepEqual(problemsOf('a', unpinned), ['node_modules/a: has no sha512 integrity'])
    assert.equal(problemsOf('a', { ...good, integrity: 'sha1-qUqP5cyxm6YcTAhz05Hph5gvu9M=' }).length, 1)
    assert.deepEqual(problemsOf('a', { ...unpinned, inBundle: true }), [])
  })

  it('reports licences that forbid redistribution, by the use of the package', () => {
    const licensed = (license: string, dev = false) => problemsOf('@x/a', { ...good, license, dev }).length
    for (const free of ['MIT', '(MIT OR GPL-3.0-or-later)', '(Apache-2.0 AND BSD-3-Clause)']) {
      assert.equal(licensed(free), 0, free)
    }
    for (const bound of ['GPL-3.0-only', '(MIT AND GPL-3.0-only)', 'MPL-2.0', 'UNLICENSED', '', '((MIT) OR X)']) {
      assert.equal(licensed(bound), 1, bound)
    }
    assert.deepEqual([licensed('MPL-2.0', true), licensed('GPL-3.0-only', true)], [0, 1])
  })

  it('reports install scripts, and packages from outside the registry', () => {
    assert.equal(problemsOf('left-pad', { ...good, hasInstallScript: true }).length, 1)
    assert.equal(problemsOf('esbuild', { ...good, hasInstallScript: true }).length, 0)
    assert.equal(problemsOf('a', { ...good, resolved: 'git+ssh://git@example.com/a.git' }).length, 1)
  })

  it('reads advisories of the registry, and distinguishes no response from a clean report', () => {
    assert.deepEqual(readAdvisories('{"vulnerabilities":{}}'), { answered: true, found: [] })
    assert.deepEqual(readAdvisories('{"vulnerabilities":{"a":{"severity":"high","range":"<2"}}}'), {
      answered: true,
      found: ['a <2: high'],
    })
    assert.deepEqual(readAdvisories('{"message":"405 Method Not Allowed - POST https://mirror.example/-/npm"}'), {
      answered: false,
      reason: '405 Method Not Allowed',
    })
    assert.deepEqual(readAdvisories(''), { answered: false, reason: 'no report' })
  })
})
