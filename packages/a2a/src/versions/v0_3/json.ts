/** The 0.3 dialect for JSON-RPC. */
import { legacyDialect } from './dialect.ts'

export const json = legacyDialect('0.3/json', { protocolVersion: '0.3.0', form: 'json' })
