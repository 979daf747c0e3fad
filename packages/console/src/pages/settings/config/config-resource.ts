/** The configuration, shared by its views. */
import type { Resource } from '../../../api/resource.ts'
import type { ConfigText } from './config-draft.ts'

/** `no file`: the hub was started without a configuration file. */
export type ConfigResource = Resource<ConfigText | 'no file'>
