/** The configuration as its views share it. */
import type { Resource } from '../../../api/resource.ts'
import type { ConfigText } from './draft.ts'

/** `no file`: the hub was not started from one. */
export type ConfigResource = Resource<ConfigText | 'no file'>
