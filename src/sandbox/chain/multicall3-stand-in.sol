// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// The two calls of Multicall3 that payment libraries use. Without it at its usual address a facilitator cannot say
/// why a payment was refused, and calls a replay a failed simulation.
contract Multicall3StandIn {
    struct Call {
        address target;
        bytes callData;
    }

    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    function tryAggregate(bool requireSuccess, Call[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            (results[i].success, results[i].returnData) = calls[i].target.call(calls[i].callData);
            if (requireSuccess) require(results[i].success, "Multicall3: call failed");
        }
    }

    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            (results[i].success, results[i].returnData) = calls[i].target.call(calls[i].callData);
            if (!calls[i].allowFailure) require(results[i].success, "Multicall3: call failed");
        }
    }
}
