// Package review knows the reviews that users ask about themselves: which kinds there are, what makes one valid, and what
// of it cannot be understood. It follows kube-apiserver 1.37.
//
// Everything here is a function of its arguments; it knows neither HTTP nor who asks, nor who may do what.
package review
