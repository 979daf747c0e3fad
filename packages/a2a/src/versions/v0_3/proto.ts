/** The 0.3 dialect for REST, and in ProtoJSON form for gRPC. */
import { legacyDialect } from './dialect.ts'

export const proto = legacyDialect('0.3/proto', { protocolVersion: '0.3.0', form: 'proto' })
