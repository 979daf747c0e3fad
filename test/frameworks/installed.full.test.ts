/** Whether the suite can run: the frameworks have a lockfile of their own, and only CI installs them unasked. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { areFrameworksInstalled } from '../../scripts/install-frameworks.ts'

const isInstalled = areFrameworksInstalled()
const skip =
  isInstalled || process.env['CI'] === 'true'
    ? false
    : 'the frameworks are not installed: run `node scripts/install-frameworks.ts` (710 MB)'

it('the frameworks are installed as the lockfile has them', { skip }, () => {
  assert.ok(isInstalled)
})
