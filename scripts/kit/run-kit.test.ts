/** The kit's report is read by outcome, whatever a test printed. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readReport } from './run-kit.ts'

describe('a report of the conformance kit', () => {
  it('lists tests by outcome, each with its class and parameters', () => {
    const report = readReport(`<testsuites><testsuite>
      <testcase classname="tests.compatibility.agent_card.test_card.TestCard" name="test_found" time="0.1" />
      <testcase classname="tests.compatibility.core.test_requirements" name="test_must[CORE-1-grpc]" time="0.1">
        <failure message="no &lt;skipped">AssertionError</failure></testcase>
      <testcase classname="tests.compatibility.core.test_requirements" name="test_set_up" time="0.1">
        <error message="x">boom</error></testcase>
      <testcase classname="tests.compatibility.core.test_requirements" name="test_may" time="0.1">
        <skipped type="pytest.skip" message="not declared">why</skipped></testcase>
    </testsuite></testsuites>`)
    assert.deepEqual(report, {
      passed: ['test_card::TestCard::test_found'],
      failed: ['core::test_requirements::test_must[CORE-1-grpc]', 'core::test_requirements::test_set_up'],
      skipped: ['core::test_requirements::test_may'],
    })
  })
})
