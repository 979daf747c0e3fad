/**
 * What a user installs: built, packed, and used by plain Node and npm, without our sources and without our conditions. One file,
 * because all tests share one build.
 */
import { checkFiveCommands } from './five-commands.ts'
import { checkContents } from './package-contents.ts'
import { checkPublishedTypes } from './published-types.ts'
import { checkStrangerCommands } from './stranger-commands.ts'

checkContents()
checkPublishedTypes()
checkFiveCommands()
checkStrangerCommands()
