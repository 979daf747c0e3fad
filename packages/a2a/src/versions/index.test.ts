import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { versionOf, versions } from './index.ts'

describe('the versions', () => {
  it('are listed newest first, each dialect under its own name', () => {
    assert.deepEqual(
      versions.map(({ id }) => id),
      ['1.0', '0.3', '0.2'],
    )
    const ids = new Set(versions.flatMap(({ json, proto }) => [json.id, proto.id]))
    assert.deepEqual([...ids], ['1.0', '0.3/json', '0.3/proto', '0.2/json', '0.2/proto'])
  })

  it('are found by major and minor, whatever the patch [B-4]', () => {
    assert.equal(versionOf('1.0')?.id, '1.0')
    assert.equal(versionOf('1.0.7')?.id, '1.0')
    assert.equal(versionOf('0.3.0')?.id, '0.3')
    for (const text of ['', '1', 'v1', '1.0, 0.3', '0.5', '1.0.0.0', 'constructor']) {
      assert.equal(versionOf(text), undefined)
    }
  })
})
