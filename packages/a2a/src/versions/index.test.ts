import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { versionOf, versions } from './index.ts'
import { versionIds, versionLoaders } from './version-loaders.ts'

describe('the versions', () => {
  it('are listed newest first, each dialect under its own name', () => {
    const ids = versions.map(({ id }) => id)
    assert.deepEqual(ids, ids.toSorted().toReversed())
    for (const { id, json, proto } of versions)
      assert.deepEqual([json.id, proto.id], json === proto ? [id, id] : [`${id}/json`, `${id}/proto`])
  })

  it('load on demand under the same ids, in the same order', async () => {
    assert.deepEqual(await Promise.all(versionIds.map((id) => versionLoaders[id]())), versions)
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
