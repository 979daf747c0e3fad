/** Calls another agent, as every agent of the hub does. */
export { runHop } from '../../delegation/hop.ts'
