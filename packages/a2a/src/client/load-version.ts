/** Loads the codecs of a version when they are needed: a browser never loads those of the others. */
import { A2AError } from '../model/error.ts'
import type { ProtocolVersion, VersionId } from '../versions/index.ts'
import { versionLoaders } from '../versions/version-loaders.ts'

/** The platform caches loaded modules; a session asks once for each interface. */
export const loadVersion = (id: VersionId): Promise<ProtocolVersion> =>
  loadPart<ProtocolVersion>(id, versionLoaders[id]())

/** If it fails, the page has lost its own server: nothing has been sent, and another interface may need no new code. */
export const loadPart = <T>(what: string, loading: Promise<T>): Promise<T> =>
  loading.catch((cause: unknown) => {
    throw new A2AError('UNAVAILABLE', `The code of ${what} cannot be loaded`, { reason: 'NOT_LOADED' }, { cause })
  })
