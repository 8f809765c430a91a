package dialect

import (
	"strings"

	"assay/internal/assay"
)

// tellingWord returns the class of a code that is more specific than the HTTP status it comes with.
func tellingWord(word string) assay.FaultClass {
	switch strings.ToLower(word) {
	case "insufficient_quota", "billing_error", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance",
		"exceeded_current_quota_error", "quota_exceeded", "payment_required", "insufficient_credits", "credit_limit":
		return assay.FaultQuota
	case "rate_limit_exceeded", "rate_limit_error", "token_limit_exceeded", "overloaded_error", "server_overloaded",
		"dynamic_request_limited", "dynamic_token_limited", "resource_unavailable",
		"throttlingexception", "servicequotaexceededexception", "modelerrorexception", "modelnotreadyexception", "slowdown":
		return assay.FaultBusy
	case "invalid_api_key", "account_deactivated", "failed_precondition", "api_key_invalid", "api_key_expired",
		"api_key_service_blocked", "service_disabled", "billing_disabled", "consumer_invalid", "consumer_suspended",
		"unrecognizedclientexception", "invalidsignatureexception", "incompletesignature", "missingauthenticationtoken", "expiredtoken",
		"expiredtokenexception",
		"invalidaccesskeyid", "signaturedoesnotmatch", "nosuchbucket", "authorizationheadermalformed", "permanentredirect",
		"requesttimetooskewed":
		return assay.FaultDenied
	case "context_length_exceeded", "request_too_large", "string_above_max_length", "payload_too_large":
		return assay.FaultLarge
	case "model_not_found", "model_not_available", "model_decommissioned", "model_mismatch", "mismatched_model", "content_filter",
		"content_policy_violation", "unsupported_value", "unsupported_parameter", "invalid_prompt", "invalid_json_line",
		"duplicate_custom_id", "url_mismatch", "invalid_url", "streaming_unsupported":
		return assay.FaultInvalid
	}
	return ""
}

// broadWord returns the class of a type or a status name, for replies that have no HTTP status.
func broadWord(word string) assay.FaultClass {
	switch strings.ToLower(word) {
	case "invalid_request_error", "invalid_request", "bad_request", "invalid_argument", "out_of_range", "unimplemented",
		"validation_error", "unprocessable_entity":
		return assay.FaultInvalid
	case "authentication_error", "permission_error", "permission_denied", "unauthenticated", "unauthorized", "forbidden":
		return assay.FaultDenied
	case "not_found_error", "not_found":
		return assay.FaultGone
	case "api_error", "server_error", "internal_error", "internal_server_error", "timeout_error", "timeout",
		"resource_exhausted", "unavailable", "service_unavailable", "deadline_exceeded", "internal", "aborted", "cancelled":
		return assay.FaultBusy
	}
	return ""
}

// grpcClass returns the class of a gRPC code, which xAI and Google put where others have a word.
func grpcClass(code int) assay.FaultClass {
	switch code {
	case grpcCancelled, 4, 8, 10, 13, 14: // cancelled, deadline exceeded, exhausted, aborted, internal, unavailable
		return assay.FaultBusy
	case 3, 11, 12: // invalid argument, out of range, unimplemented
		return assay.FaultInvalid
	case 5: // not found
		return assay.FaultGone
	case 7, 9, 16: // permission denied, failed precondition, unauthenticated
		return assay.FaultDenied
	}
	return ""
}

const grpcCancelled = 1

// withoutSecrets takes out of a provider's words what looks like a key, and the query of any URL: some providers repeat
// what they were sent.
func withoutSecrets(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		end := strings.IndexAny(s, " \t\r\n\"'`,;()<>[]{}")
		if end < 0 {
			end = len(s)
		}
		b.WriteString(withoutSecret(s[:end]))
		if end < len(s) {
			b.WriteByte(s[end])
			end++
		}
		s = s[end:]
	}
	return b.String()
}

const secretMark = "[secret]"

func withoutSecret(word string) string {
	if scheme := strings.Index(word, "://"); scheme >= 0 {
		if query := strings.IndexByte(word, '?'); query > scheme {
			return word[:query+1] + secretMark
		}
		return word
	}
	const shortest = 16
	for _, prefix := range []string{"sk-", "sk_", "xai-", "gsk_", "AIza", "fw_", "tgp_", "ya29.", "pplx-", "key-"} {
		if i := strings.Index(word, prefix); i >= 0 && len(word)-i >= shortest && (i == 0 || !isLetter(word[i-1])) {
			return word[:i] + secretMark
		}
	}
	return word
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
