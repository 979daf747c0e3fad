/** Protocol 0.2: the fields of 0.3 that already existed, and an extended card that is an HTTP GET, not a method. */
import type { Operation } from '../../model/operation.ts'
import { legacyDialect } from '../v0_3/dialect.ts'
import { v0_3 } from '../v0_3/index.ts'
import type { VersionDefinition } from '../version.ts'

const { GetExtendedAgentCard: _http, ...methods } = v0_3.spelling.methods
const { aliases: _none, ...spelling } = v0_3.spelling

const json = legacyDialect('0.2/json', { protocolVersion: '0.2.6', form: 'json' })
const proto = legacyDialect('0.2/proto', { protocolVersion: '0.2.6', form: 'proto' })

export const v0_2: VersionDefinition<'0.2'> = {
  ...v0_3,
  id: '0.2',
  spelling: { ...spelling, methods: methods satisfies Partial<Record<Operation, string>> },
  json,
  proto,
}
