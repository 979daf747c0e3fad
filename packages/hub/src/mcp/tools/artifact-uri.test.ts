import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseArtifactUri, artifactUri } from './artifact-uri.ts'

describe('the address of a part', () => {
  it('leads back to where it came from, whatever the names are', () => {
    for (const ref of [{ agent: 'a~b.c' }, { url: 'https://x.example:8080/a2a/y?z=1#w' }]) {
      for (const id of ['t', 'a/b', '%', '…', ' ', '..']) {
        const place = { ref, taskId: id, artifactId: id, part: 3 }
        assert.deepEqual(parseArtifactUri(artifactUri(place)), place)
      }
    }
  })

  it('is nothing else', () => {
    for (const uri of [
      '',
      'parley://agent/a/b/c',
      'parley://agent/a/b/c/x',
      'parley://agent/a/b/c/-1',
      'parley://agent/a/b/c/9999999',
      'parley://other/a/b/c/0',
      'parley://agent/%E0%A4/b/c/0',
      'file:///etc/passwd',
      'x parley://agent/a/b/c/0',
    ]) {
      assert.equal(parseArtifactUri(uri), undefined, uri)
    }
  })
})
