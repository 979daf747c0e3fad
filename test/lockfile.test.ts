/** `npm ci` works on every platform: no package is missing, and no registry is named. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

interface Locked {
  readonly version?: string
  readonly resolved?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const read = (path: string): string => readFileSync(join(import.meta.dirname, '..', path), 'utf8')
const lockfiles = ['package-lock.json', 'site/package-lock.json', 'test/frameworks/package-lock.json']

type Packages = Readonly<Record<string, Locked>>

/** As Node would find it: beside the package, or in a folder above. */
function isFound(packages: Packages, name: string, place: string): boolean {
  if (`${place === '' ? '' : `${place}/`}node_modules/${name}` in packages) return true
  if (place === '') return false
  return isFound(packages, name, place.slice(0, Math.max(0, place.lastIndexOf('node_modules/') - 1)))
}

for (const lockfile of lockfiles) {
  describe(lockfile, () => {
    const text = read(lockfile)
    const { packages } = JSON.parse(text) as { readonly packages: Packages }

    it('has every package of every platform: npm omits those that its registry lacked, and `npm ci` then fails', () => {
      const missing = Object.entries(packages).flatMap(([place, { optionalDependencies = {} }]) =>
        Object.keys(optionalDependencies).filter((name) => !isFound(packages, name, place)),
      )
      assert.deepEqual(missing, [])
    })

    it('names no registry', () => {
      assert.doesNotMatch(text, /"resolved": "https?:/)
    })
  })
}
